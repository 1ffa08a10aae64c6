// Archived applications are not worked on: nothing of them is due, told or begun by the clock, and no gate counts them.
// Their findings and deadlines stay as they are, so that archiving gains nobody time: what is overdue is overdue again
// once they are restored.
import type { Fragment, Queryable } from '../database.js';

/** Of rows with application_id: their application is not archived. There are few that are (an index of their own). */
export const ofActive = (sql: Queryable): Fragment =>
  sql`application_id not in (select id from vm_applications where status = 'archived')`;
