package recoverctl;

import org.apache.flink.runtime.checkpoint.OperatorState;

/** Loads the metadata of a snapshot by Flink's own classes and does nothing else: LoadMetadata SNAPSHOT. */
public final class LoadMetadata {
    public static void main(String[] args) throws Exception {
        int subtasks = 0;
        for (OperatorState operator : ReadBack.load(args[0]).getOperatorStates()) {
            subtasks += operator.getStates().size();
        }
        System.out.println(subtasks);
    }
}
