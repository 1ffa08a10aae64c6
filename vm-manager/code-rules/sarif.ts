// The SARIF of the newest scans of source code, as it was handed to the importer.
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Sql } from '../database.js';
import { storeBytes } from '../kit/upload/stored-bytes.js';

/** Packed; a larger one is not kept. */
const bytesMax = 16 * 1024 * 1024;
const unpackedMax = 512 * 1024 * 1024;
/** Of an application. */
const keptMax = 20;

export async function keepSarif(sql: Sql, run: number, application: string, text: string): Promise<boolean> {
  const packed = gzipSync(text);
  if (packed.length > bytesMax) return false;
  await sql.begin(async (tx) => {
    await storeBytes(tx, packed, (whole) => tx`insert into vm_scan_sarif (run_id, content) values (${run}, ${whole})`);
    await tx`
      delete from vm_scan_sarif s using vm_runs r where r.id = s.run_id and r.application_id = ${application}
        and r.id not in (select s2.run_id from vm_scan_sarif s2 join vm_runs r2 on r2.id = s2.run_id
          where r2.application_id = ${application} order by s2.run_id desc limit ${keptMax})`;
  });
  return true;
}

export async function readSarif(sql: Sql, run: number): Promise<string | null> {
  const [row] = await sql<{ content: Uint8Array }[]>`select content from vm_scan_sarif where run_id = ${run}`;
  return row === undefined ? null : gunzipSync(row.content, { maxOutputLength: unpackedMax }).toString('utf8');
}
