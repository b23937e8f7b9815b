package recoverctl;

/** A task in flight. It has no constructor without arguments, so that Flink stores it with Kryo, as that of an agent. */
final class ActionTask {
    private final String action;
    private final long sequence;

    ActionTask(String action, long sequence) {
        this.action = action;
        this.sequence = sequence;
    }

    @Override
    public String toString() {
        return action + " " + sequence;
    }
}
