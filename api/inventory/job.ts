import type { Job } from '../http-kit/index.js';
import { inventoryOf, type InventoryNeeds } from './inventory.js';

const takenDays = 2;

/** Makes the inventory of what was observed since, and forgets which batches were taken two days ago. */
export function createInventoryJob(parts: InventoryNeeds): Job {
  return {
    name: 'api-inventory',
    everyMs: 15_000,
    timeoutMs: 120_000,
    async run({ nowMs }) {
      const sites = await inventoryOf(parts).refresh();
      const before = new Date(nowMs - takenDays * 86_400_000);
      await parts.database.sql`delete from api_taken where at < ${before}`;
      return `${sites} sites`;
    },
  };
}
