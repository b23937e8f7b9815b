package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

func newValidate(a *app) *cobra.Command {
	return group("validate", "Ask whether a restore would be accepted; nothing is changed", newValidateRestore(a))
}

// maxMarkersFile bounds a file of markers: 100 subtasks of 10,000 partitions fit
// many times over.
const maxMarkersFile = 64 << 20

func newValidateRestore(a *app) *cobra.Command {
	var markersFile, planFile string
	var readWindow, calls bool
	var expect expectations
	cmd := &cobra.Command{
		Use: "restore URI", Short: "Would a restore from this recovery point be accepted, and what would it replay",
		Long: `Evaluates every rule of a restore in the order of the real code: the first one
that fails is the verdict, the others say what they would have said.

The records of the replay window are read with --read-window only: every one of
them, as the restore would, for one bad record stops it. Give --max-parallelism
where the recovery point does not say it; where it says another, the restore is
refused.

Flink itself asks first: whether the job's Flink reads the metadata (that of the
running job, or --flink-version), and whether the job still has the operator that
the state belongs to. Give --operator-uid where the job sets one for its agent
operator: its id is the hash of the uid, and is looked for in the recovery point.
Without a uid, as released versions have it, a changed job graph loses the state.

What to do next ends the answer: what must be stopped, and the restore by the
Flink program, by REST and by the Kubernetes operator, from the nearest accepted
point where this one is not accepted. Words in capitals are yours to replace.

With --plan it also says what the same restore would say once that cleanup plan
is applied, and which rules speak differently then. With --calls the topic is
scanned for durable calls: how many the restore would make again, how many it
would leave to the job's reconciler, and how many it would replay, now and with
--plan later.

Of a job of ArkFlow the point is named by its id, its folder or its manifest: the
hub says what is on record, and the objects of the point are read and recomputed.

Exit codes: 0 accepted, with --plan now and later; 1 rejected or unknown, now or
later; 4 neither the recovery point nor the cluster could be reached, 6 there is
nothing at that URI or no such plan, 9 the plan is not valid.`,
		Args: func(cmd *cobra.Command, args []string) error {
			fromFile := cmd.Flags().Changed("markers")
			switch {
			case fromFile && len(args) > 0:
				return fault.New(fault.Usage, "run", "give a URI or --markers, not both")
			case fromFile:
				return nil
			default:
				return exactArgs("one URI, or --markers FILE")(cmd, args)
			}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if is, err := a.validateArkFlow(cmd.Context(), args[0]); is {
					return err
				}
			}
			var source string
			var markers []inspect.Marker
			var plan *inspect.CleanupPlan
			read := func() error {
				if err := expect.check(); err != nil {
					return err
				}
				if cmd.Flags().Changed("plan") {
					parsed, err := parsePlan(planFile)
					if err != nil {
						return err
					}
					plan = &parsed
				}
				if len(args) > 0 {
					return nil
				}
				return a.waitFor(func() (err error) {
					source, markers, err = readMarkers(a.in, markersFile)
					return err
				})
			}
			return a.withJob(read, func(in *inspect.Inspector, job inspect.Job) error {
				var (
					v      inspect.RestoreValidation
					faults []error
					err    error
				)
				if readWindow {
					in = in.ReadingWindow(a.windowProgress())
				}
				if calls {
					in = in.CountingCalls(a.callProgress())
				}
				expect.of(&job)
				if plan != nil {
					in = in.WithProspect(actions.Prospect(*plan))
				}
				if len(args) == 0 {
					v, faults = in.ValidateMarkers(cmd.Context(), job, source, markers)
				} else if v, faults, err = in.Validate(cmd.Context(), job, args[0]); err != nil {
					return err
				}
				if cmd.Context().Err() != nil {
					return cmd.Context().Err()
				}
				if err := a.printer().result("RestoreValidation", v, faults, func(t *table) { renderValidation(t, v, job.Store, a.clock.Now()) }); err != nil {
					return err
				}
				if v.Verdict != inspect.Accepted || v.Later != nil && v.Later.Verdict != inspect.Accepted {
					return exitStatus(fault.Problem.Exit())
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&markersFile, "markers", "", "judge the markers in this JSON `FILE` (- for standard input) instead of a recovery point")
	cmd.Flags().StringVar(&planFile, "plan", "", "also say what it would be once the cleanup plan in this `FILE` is applied")
	cmd.Flags().BoolVar(&readWindow, "read-window", false, "also read the replay window record by record, as the restore would")
	expect.register(cmd)
	registerCalls(cmd, &calls)
	return cmd
}

// expectations are what flags say of the job that would be restored.
type expectations struct {
	uid, id, flink string
}

func (e *expectations) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.uid, "operator-uid", "", "the `UID` that the job sets for its agent operator")
	cmd.Flags().StringVar(&e.id, "operator-id", "", "the job's agent operator by its `ID`, 32 hex digits")
	cmd.Flags().StringVar(&e.flink, "flink-version", "", "the `VERSION` of the Flink that would restore, as in 2.3")
}

// check also brings the operator's id into the form that recovery points have.
func (e *expectations) check() error {
	if e.uid != "" && e.id != "" {
		return fault.New(fault.Usage, "run", "give --operator-uid or --operator-id, not both")
	}
	if e.id != "" {
		id, err := flink.ParseOperatorID(e.id)
		if err != nil {
			return err
		}
		e.id = id
	}
	if e.flink != "" && !inspect.KnowsFlinkVersion(e.flink) {
		return fault.New(fault.Usage, "run", "--flink-version %s is no version of Flink that is known", safe(e.flink)).
			WithHint("give it as in 1.20, 2.0 or 2.3")
	}
	return nil
}

func (e *expectations) of(job *inspect.Job) {
	job.FlinkVersion = e.flink
	switch {
	case e.uid != "":
		job.Operator = inspect.ExpectedOperator{ID: flink.OperatorIDOf(e.uid), UID: e.uid}
	case e.id != "":
		job.Operator = inspect.ExpectedOperator{ID: e.id}
	}
}

// windowProgress says on a terminal, once a second, how far the reading of a
// window has come.
func (a *app) windowProgress() func(inspect.WindowProgress) {
	if !a.errTTY {
		return nil
	}
	said := a.clock.Now()
	return func(p inspect.WindowProgress) {
		now := a.clock.Now()
		if now.Sub(said) < time.Second {
			return
		}
		said = now
		fmt.Fprintf(a.err, "read %s records, %s, %d %% of the replay window\n", figures.Group(p.Records), figures.Bytes(p.Bytes), p.Span*100/max(1, p.Total))
	}
}

// readMarkers reads a bounded file of markers, or standard input for "-".
func readMarkers(in io.Reader, path string) (source string, markers []inspect.Marker, err error) {
	r := in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			kind := fault.Corrupt
			if os.IsNotExist(err) {
				kind = fault.NotFound
			}
			return "", nil, fault.Wrap(kind, "read markers", err, "the file of markers can't be opened")
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return "", nil, fault.New(fault.Corrupt, "read markers", "%s is a folder, not a file of markers", safe(path))
		}
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxMarkersFile+1))
	if err != nil {
		return "", nil, fault.Wrap(fault.Corrupt, "read markers", err, "%s can't be read", safe(path))
	}
	if len(data) > maxMarkersFile {
		return "", nil, fault.New(fault.Corrupt, "read markers", "%s is larger than %d bytes: that is no file of markers", safe(path), maxMarkersFile)
	}
	return inspect.ReadMarkersFile(data)
}
