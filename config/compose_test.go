package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recoverctl/recoverctl/config"
)

// Whatever is answered comes back when the file is loaded: texts that look like
// numbers, truths or YAML stay texts.
func TestWhatIsAnsweredIsWhatIsLoaded(t *testing.T) {
	a := config.Answers{
		Profile: "orders", Environment: "staging", Brokers: []string{"k1:9092", "k2:9092"}, TLS: true, CAFile: "/etc/ca.pem",
		Mechanism: "scram-sha-512", Username: "yes", PasswordEnv: "KAFKA_PASSWORD",
		Job: "007", Topic: "true", ControlTopic: "a: b # c", Runtime: "0.3", RecoveryPoints: []string{"/mnt/checkpoints", "file:/data/x y"}, FlinkREST: "http://jm:8081",
	}
	text, err := config.Compose(a)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(config.Options{File: path})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	sel, err := loaded.Select("", "")
	if err != nil {
		t.Fatal(err)
	}
	p, j := sel.Profile, sel.Job
	if p.Name != "orders" || p.Environment.String() != "staging" || len(p.Kafka.Brokers) != 2 || p.Kafka.TLS.CAFile != "/etc/ca.pem" ||
		p.Kafka.SASL.Mechanism != "scram-sha-512" || p.Kafka.SASL.Username != "yes" || p.Kafka.SASL.Password.Env != "KAFKA_PASSWORD" {
		t.Errorf("profile %+v\n%s", p, text)
	}
	if j.Name != "007" || j.ActionState.Topic != "true" || *j.ActionState.ControlTopic != "a: b # c" || j.Runtime != "0.3" ||
		len(j.RecoveryPoints) != 2 || j.RecoveryPoints[1] != "file:/data/x y" || j.Flink.REST != "http://jm:8081" {
		t.Errorf("job %+v\n%s", j, text)
	}
}

// The shortest answers make a file too.
func TestAProfileWithNothingLoads(t *testing.T) {
	text, err := config.Compose(config.Answers{Profile: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(config.Options{File: path}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}
