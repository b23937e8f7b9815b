// Package atomicfile writes files of which nothing half-written is ever visible
// under their name, neither to another process nor after a crash or a power
// failure.
//
//   - Create makes a file that must not exist yet: a plan, a receipt.
//   - Replace puts a new content in the place of the old one: a state file.
//   - AppendLine adds one line to a log: the journal.
//
// All files have mode 0600. When a call has returned without an error, what it
// wrote survives a power failure, as far as the file system honours fsync.
//
// # The order of Create and Replace
//
// The content goes to a temporary file in the same folder, which is synced
// before it gets its name: a name must never point at content that is not on
// the disk. Then the folder is synced, because the name is part of the folder.
//
// Create gives the name with link(2), which fails where the name exists: of two
// processes exactly one wins, and a symbolic link is not followed. Where a file
// system has no hard links (FAT, some network file systems) the name is first
// taken with O_CREAT|O_EXCL, which is just as exclusive, and the temporary file
// is then renamed onto it. Only there a crash between the two can leave an empty
// file under the name; it is never a part of the content.
//
// Replace gives the name with rename(2). Where the name was a symbolic link, the
// link is replaced and not the file that it points to.
//
// A crash can leave a temporary file, named like the target with a leading dot
// and the suffix ".tmp" after a random number. It may be deleted.
//
// It must never truncate or overwrite a file in place.
package atomicfile
