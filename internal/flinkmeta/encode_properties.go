package flinkmeta

import "fmt"

// Serial version ids of the Java classes, as Flink 1.16 to 2.3 writes them.
const (
	uidProperties uint64 = 2
	uidCheckpoint uint64 = 0xD6DE4F0305AE1D3A
	uidSavepoint  uint64 = 0xA087D308A45814B8
)

// CheckpointProperties are those of a periodic checkpoint that is kept when its
// job is cancelled.
func CheckpointProperties() Properties {
	return Properties{
		Kind: KindCheckpoint, Name: "Checkpoint", Sharing: "FORWARD_BACKWARD",
		DiscardFinished: true, DiscardSubsumed: true,
	}
}

// SavepointProperties are those of a savepoint on request. format is
// FormatCanonical or FormatNative.
func SavepointProperties(format string) Properties {
	return Properties{Kind: KindSavepoint, Name: "Savepoint", Format: format, PostAction: "NONE", Forced: true}
}

// javaStream writes the properties from their fields, as Java serialization of
// Flink's CheckpointProperties; null where Kind is unknown.
func (p *Properties) javaStream() ([]byte, error) {
	var j javaWriter
	j.i32(javaMagicInt)
	switch p.Kind {
	case KindUnknown:
		j.u8(tcNull)
	case KindCheckpoint, KindSavepoint:
		j.properties(p)
	default:
		return nil, fmt.Errorf("snapshot kind %s is not known", quote(string(p.Kind)))
	}
	return j.out, j.err
}

// javaMagicInt is javaMagic as a Java int.
const javaMagicInt = javaMagic - 1<<32

// javaWriter counts the handles that Java's protocol gives to classes, objects
// and strings, so that java.lang.Enum, which two enums share, is a reference
// the second time.
type javaWriter struct {
	encoder
	next    int32
	enum    int32 // handle of java.lang.Enum, if hasEnum
	hasEnum bool
}

func (j *javaWriter) handle() int32 {
	j.next++
	return j.next - 1
}

// string writes a string object. No two strings of the properties are equal.
func (j *javaWriter) string(s string) {
	j.u8(tcString)
	j.utf(s)
	j.handle()
}

// class starts a class description with n fields; the caller writes the fields
// and then endClass.
func (j *javaWriter) class(name string, uid uint64, flags uint8, n int16) {
	j.u8(tcClassDesc)
	j.utf(name)
	j.i64(int64(uid))
	j.handle()
	j.u8(flags)
	j.i16(n)
}

func (j *javaWriter) endClass() {
	j.u8(tcEndBlock)
	j.u8(tcNull) // no parent
}

func (j *javaWriter) objectField(name, class string) {
	j.u8('L')
	j.utf(name)
	j.string("L" + class + ";")
}

func (j *javaWriter) enumValue(class, constant string) {
	j.u8(tcEnum)
	j.class(class, 0, enumFlags, 0)
	j.u8(tcEndBlock)
	if j.hasEnum {
		j.u8(tcReference)
		j.i32(baseHandle + j.enum)
	} else {
		j.enum, j.hasEnum = j.next, true
		j.class(classEnum, 0, enumFlags, 0)
		j.endClass()
	}
	j.handle() // the constant's own
	j.string(constant)
}

func (j *javaWriter) properties(p *Properties) {
	flags := p.flags()
	j.u8(tcObject)
	j.class(classProperties, uidProperties, scSerial, int16(len(flags)+1))
	for _, f := range flags {
		j.u8('Z')
		j.utf(f.name)
	}
	j.objectField("checkpointType", "org/apache/flink/runtime/checkpoint/SnapshotType")
	j.endClass()
	j.handle() // the object's own
	for _, f := range flags {
		j.bool(*f.value)
	}
	if p.Kind == KindCheckpoint {
		j.checkpointType(p)
	} else {
		j.savepointType(p)
	}
}

func (j *javaWriter) checkpointType(p *Properties) {
	j.u8(tcObject)
	j.class(classCheckpoint, uidCheckpoint, scSerial, 2)
	j.objectField("name", "java/lang/String")
	j.objectField("sharingFilesStrategy", "org/apache/flink/runtime/checkpoint/SnapshotType$SharingFilesStrategy")
	j.endClass()
	j.handle() // the object's own
	j.string(p.Name)
	j.enumValue(classSharing, p.Sharing)
}

func (j *javaWriter) savepointType(p *Properties) {
	j.u8(tcObject)
	j.class(classSavepoint, uidSavepoint, scSerial, 3)
	j.objectField("formatType", "org/apache/flink/core/execution/SavepointFormatType")
	j.objectField("name", "java/lang/String")
	j.objectField("postCheckpointAction", "org/apache/flink/runtime/checkpoint/SavepointType$PostCheckpointAction")
	j.endClass()
	j.handle() // the object's own
	j.enumValue(classFormat, p.Format)
	j.string(p.Name)
	j.enumValue(classPostAction, p.PostAction)
}
