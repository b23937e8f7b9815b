package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"
)

// Schema is the manifest's.
const Schema = "recoverctl.bundle/v1"

// folder is where all members are, so that unpacking makes one folder.
const folder = "recoverctl-bundle"

// manifestName is the first member.
const manifestName = "manifest.json"

// Manifest says what is in a bundle, and what is not.
type Manifest struct {
	Schema  string    `json:"schema"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"` // of the program
	Profile string    `json:"profile"`
	Job     string    `json:"job"`
	Members []Member  `json:"members"` // without the manifest, in the order of the archive
	LeftOut []string  `json:"leftOut"` // a sentence each
	Faults  any       `json:"faults"`  // what could not be read
}

// Member is one file of a bundle.
type Member struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // of the content, in hexadecimal
}

// Bundle collects members. The zero value is empty.
type Bundle struct {
	members []Member
	data    map[string][]byte
}

// Add adds a member. Its name is a plain one, and each can be given once.
func (b *Bundle) Add(name string, data []byte) error {
	if name == "" || name == "." || name == ".." || name == manifestName || path.Base(name) != name {
		return fmt.Errorf("%q can't be the name of a member", name)
	}
	if _, taken := b.data[name]; taken {
		return fmt.Errorf("there is a member %q already", name)
	}
	if b.data == nil {
		b.data = map[string][]byte{}
	}
	sum := sha256.Sum256(data)
	b.data[name] = data
	b.members = append(b.members, Member{Name: name, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	return nil
}

// Members are those that were added, in the order of the archive: by name.
func (b *Bundle) Members() []Member {
	return slices.SortedFunc(slices.Values(b.members), func(x, y Member) int { return bytes.Compare([]byte(x.Name), []byte(y.Name)) })
}

// Encode makes the archive. Schema and members of the manifest are filled in.
func (b *Bundle) Encode(m Manifest) ([]byte, error) {
	m.Schema, m.Members, m.Made = Schema, b.Members(), m.Made.UTC().Truncate(time.Second)
	if m.LeftOut == nil {
		m.LeftOut = []string{}
	}
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	add := func(name string, data []byte) error {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, name), Size: int64(len(data)), Mode: 0o600, ModTime: m.Made, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
		if _, err := archive.Write(data); err != nil {
			return fmt.Errorf("archive %s: %w", name, err)
		}
		return nil
	}
	if err := add(manifestName, append(manifest, '\n')); err != nil {
		return nil, err
	}
	for _, member := range m.Members {
		if err := add(member.Name, b.data[member.Name]); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	if err := zipped.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}
