package recoverctl;

import java.util.List;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.lake.lakestorage.LakeCatalog;
import org.apache.fluss.lake.lakestorage.LakeStorage;
import org.apache.fluss.lake.lakestorage.LakeStoragePlugin;
import org.apache.fluss.lake.source.LakeSource;
import org.apache.fluss.lake.writer.LakeTieringFactory;
import org.apache.fluss.metadata.TableChange;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;

/**
 * A lake that keeps nothing, so that a cluster can have tables with one: what its servers then do is theirs alone. Rows are never written
 * to it; a test tells the coordinator how far they are there, as the service that writes them would.
 */
public final class NoLake implements LakeStoragePlugin, LakeStorage, LakeCatalog {
    @Override
    public String identifier() {
        return "lance";
    }

    @Override
    public LakeStorage createLakeStorage(Configuration configuration) {
        return this;
    }

    @Override
    public LakeTieringFactory<?, ?> createLakeTieringFactory() {
        throw new UnsupportedOperationException("nothing is written to this lake");
    }

    @Override
    public LakeCatalog createLakeCatalog() {
        return this;
    }

    @Override
    public LakeSource<?> createLakeSource(TablePath path) {
        throw new UnsupportedOperationException("nothing is read from this lake");
    }

    @Override
    public void createTable(TablePath path, TableDescriptor table, Context context) {}

    @Override
    public void alterTable(TablePath path, List<TableChange> changes, Context context) {}
}
