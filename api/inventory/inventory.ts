// Everything that features with observations share: one writer and one folder for a database of this process.
import { maskLevelOf, observationKeyOf, type ObservationBatch, type ObservationSource } from '#proxy/contract';
import type { Database } from '../db/client.js';
import type { Parts } from '../parts.js';
import { createCellWriter, type CellWriter, type Taken } from './cells.js';
import { createFolder, type Folder } from './fold.js';

export interface Inventory extends Folder, CellWriter {
  /** `sender` and the batch's id together name what is taken once. */
  take(batch: ObservationBatch, source: ObservationSource, sender: string): Promise<Taken>;
}

const inventories = new WeakMap<Database, Inventory>();

export type InventoryNeeds = Pick<Parts, 'database' | 'now' | 'nodeToken' | 'currentSettings'>;

/** The one of this database. */
export function inventoryOf({ database, now, nodeToken, currentSettings }: InventoryNeeds): Inventory {
  const known = inventories.get(database);
  if (known !== undefined) return known;
  const level = async () => maskLevelOf((await currentSettings()).privacy_mode);
  const folder = createFolder(database, level);
  const key = observationKeyOf(nodeToken);
  const writer = createCellWriter({ ...folder, database, now, level, key });
  const made: Inventory = {
    ...folder,
    ...writer,
    take: (batch, source, sender) => writer.write(batch, source, `${sender} ${batch.batch_id}`),
  };
  inventories.set(database, made);
  return made;
}
