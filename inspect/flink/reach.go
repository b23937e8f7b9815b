package flink

// Reach is the file system of a place, and what it calls it: for those who read
// other files than recovery points of Flink at places that are written and mapped
// in the same way. Nothing is read. Its errors are those of a place that can't be
// one, and Unsupported where no access to its system is built in.
func (s *Store) Reach(uri string) (FileSystem, string, error) {
	l, err := parseLocation(uri)
	if err != nil {
		return nil, "", err
	}
	if _, _, hasScheme := cutScheme(uri); hasScheme {
		l, _ = s.place(l)
	}
	system, known := s.systems[l.scheme]
	if !known {
		return nil, "", notReadable(l)
	}
	return system, l.name(), nil
}
