package flinkmeta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Marks of Java's Object Serialization Stream Protocol, as far as Flink's
// checkpoint properties use it.
const (
	javaMagic     = 0xACED0005 // stream magic and version
	tcNull        = 0x70
	tcReference   = 0x71
	tcClassDesc   = 0x72
	tcObject      = 0x73
	tcString      = 0x74
	tcEndBlock    = 0x78
	tcEnum        = 0x7E
	scWriteMethod = 0x01
	scSerial      = 0x02
	enumFlags     = scSerial | 0x10
	baseHandle    = 0x7E0000
)

// javaObject is an object or an enum constant of a Java stream.
type javaObject struct {
	class    string
	constant string         // of an enum
	fields   map[string]any // bool, string, *javaObject; nil for null
}

type javaField struct {
	code byte // Z for a boolean, L for an object
	name string
}

type javaClass struct {
	name   string
	flags  uint8
	fields []javaField
	super  *javaClass
}

// javaReader walks a Java serialization stream. It knows booleans, strings,
// enums and plain objects. Anything else is not an error: unknown then says
// what stopped it, and nothing after it can be told. Refused says what of it Java
// would not read into the classes that Flink has; the walk goes on behind it.
type javaReader struct {
	*Reader
	handles []any
	unknown string
	refused string
	foreign string // a class that is none of the properties'
	depth   int
}

// knownClass is a class that Flink 1.16 to 2.3 has.
type knownClass struct {
	uid       uint64
	flags     uint8
	fields    map[string]byte // by name: their type code
	constants []string        // of an enum
}

// knownClasses are those of the checkpoint properties.
var knownClasses = map[string]knownClass{
	classProperties: {uid: uidProperties, flags: scSerial, fields: propertyFields()},
	classCheckpoint: {uid: uidCheckpoint, flags: scSerial, fields: map[string]byte{"name": 'L', "sharingFilesStrategy": 'L'}},
	classSavepoint:  {uid: uidSavepoint, flags: scSerial, fields: map[string]byte{"name": 'L', "formatType": 'L', "postCheckpointAction": 'L'}},
	classEnum:       {flags: enumFlags},
	classSharing:    {flags: enumFlags, constants: []string{"FORWARD_BACKWARD", "FORWARD", "NO_SHARING"}},
	classFormat:     {flags: enumFlags, constants: []string{FormatCanonical, FormatNative}},
	classPostAction: {flags: enumFlags, constants: []string{"NONE", "SUSPEND", "TERMINATE"}},
}

func propertyFields() map[string]byte {
	fields := map[string]byte{"checkpointType": 'L'}
	for _, f := range new(Properties).flags() {
		fields[f.name] = 'Z'
	}
	return fields
}

func (j *javaReader) refuse(format string, args ...any) {
	if j.going() && j.refused == "" {
		j.refused = fmt.Sprintf(format, args...)
	}
}

func (j *javaReader) going() bool { return j.OK() && j.unknown == "" }

func (j *javaReader) stop(format string, args ...any) {
	if j.going() {
		j.unknown = fmt.Sprintf(format, args...)
	}
}

// value reads one object, string, enum or null.
func (j *javaReader) value() any {
	j.depth++
	defer func() { j.depth-- }()
	if j.depth > maxDepth {
		j.stop("objects nested deeper than %d", maxDepth)
		return nil
	}
	switch mark := j.U8("Java object mark"); {
	case !j.going() || mark == tcNull:
		return nil
	case mark == tcReference:
		return j.reference()
	case mark == tcString:
		s := j.UTF("Java string")
		j.handles = append(j.handles, s)
		return s
	case mark == tcEnum:
		o := &javaObject{}
		if class := j.classDesc(); class != nil {
			o.class = class.name
		}
		j.handles = append(j.handles, o)
		constant, ok := j.value().(string)
		if o.constant = constant; !ok {
			j.refuse("a constant of %s has no name", quote(o.class))
		} else if known, ok := knownClasses[o.class]; ok && !slices.Contains(known.constants, constant) {
			j.refuse("%s has no constant %s", o.class, quote(constant))
		}
		return o
	case mark == tcObject:
		return j.object()
	default:
		j.stop("object mark %#x", mark)
		return nil
	}
}

func (j *javaReader) reference() any {
	i := int64(j.I32("Java reference")) - baseHandle
	if !j.OK() {
		return nil
	}
	if i < 0 || i >= int64(len(j.handles)) {
		j.corrupt(j.Pos()-4, "checkpoint properties", "a Java reference points nowhere")
		return nil
	}
	return j.handles[i]
}

func (j *javaReader) object() any {
	class := j.classDesc()
	if class == nil {
		j.stop("an object without a class")
		return nil
	}
	o := &javaObject{class: class.name, fields: map[string]any{}}
	j.handles = append(j.handles, o)
	var line []*javaClass // the class, then its parents
	for c := class; c != nil; c = c.super {
		if len(line) == maxDepth { // a damaged stream may make a class its own parent
			j.stop("a class with more than %d parents", maxDepth)
			return o
		}
		line = append(line, c)
	}
	for i := len(line) - 1; i >= 0 && j.going(); i-- {
		if line[i].flags != scSerial {
			j.stop("class flags %#x", line[i].flags)
			return o
		}
		for _, f := range line[i].fields {
			if f.code == 'Z' {
				o.fields[f.name] = j.Bool("Java boolean")
			} else {
				o.fields[f.name] = j.value()
			}
		}
	}
	return o
}

// classDesc reads a class description: a new one, one seen before, or null.
func (j *javaReader) classDesc() *javaClass {
	j.depth++
	defer func() { j.depth-- }()
	if j.depth > maxDepth {
		j.stop("classes nested deeper than %d", maxDepth)
		return nil
	}
	switch mark := j.U8("Java class mark"); {
	case !j.going() || mark == tcNull:
		return nil
	case mark == tcReference:
		c, ok := j.reference().(*javaClass)
		if !ok && j.going() {
			j.corrupt(j.Pos()-4, "checkpoint properties", "a Java reference is no class")
		}
		return c
	case mark != tcClassDesc:
		j.stop("class mark %#x", mark)
		return nil
	}
	c := &javaClass{name: j.UTF("Java class name")}
	uid := uint64(j.I64("Java serial version"))
	j.handles = append(j.handles, c)
	c.flags = j.U8("Java class flags")
	known, ok := knownClasses[c.name]
	switch {
	case !ok:
		j.foreign = cmp.Or(j.foreign, c.name)
	case uid != known.uid:
		j.refuse("%s has the serial version %016x, and Flink's has %016x", c.name, uid, known.uid)
	case c.flags != known.flags:
		j.refuse("%s has the flags %#x, and Flink's has %#x", c.name, c.flags, known.flags)
	}
	if c.flags&scWriteMethod != 0 {
		j.stop("class flags %#x", c.flags)
	}
	n := int(uint16(j.I16("number of Java fields")))
	for i := 0; i < n && j.going(); i++ {
		f := javaField{code: j.U8("Java field type"), name: j.UTF("Java field name")}
		switch f.code {
		case 'Z':
		case 'L':
			if class, _ := j.value().(string); !strings.HasPrefix(class, "L") && !strings.HasPrefix(class, "[") {
				j.refuse("the field %s of %s has the type %s, which is none", quote(f.name), c.name, quote(class))
			}
		default:
			j.stop("a field of type %#x", f.code)
		}
		if code, ok := known.fields[f.name]; ok && code != f.code {
			j.refuse("the field %s of %s has the type %c, and Flink's has %c", quote(f.name), c.name, f.code, code)
		}
		c.fields = append(c.fields, f)
	}
	if mark := j.U8("end of a Java class"); mark != tcEndBlock {
		j.stop("class annotation %#x", mark)
	}
	if j.going() {
		c.super = j.classDesc()
	}
	return c
}
