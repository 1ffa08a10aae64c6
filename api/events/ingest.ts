// Batches in, rows out. One writer at a time (also across servers) hands out ids in commit order, so that a reader who
// follows ids never skips a row. A batch is acknowledged after its commit and stored once however often it is sent.
// When batches arrive faster than they can be written, requests are sampled and counted; events never are. What must
// not be kept is masked here, before anything waits or is written (proxy/masking/mask.ts): nodes send what they saw.
// The answer says what became of every record: stored, sampled out, or refused by the database. A batch sent again gets
// the same counts.
import type { MaskLevel } from '#proxy/contract';
import { ApiError } from '../http-kit/index.js';
import { nothingMasked } from '../masking/mask-records.js';
import type { Masker } from '../masking/masker.js';
import { createOrdinaryBucket, ordinaryLimit, type OrdinaryLimit } from './ordinary-limit.js';
import type { Locations } from './places/locations.js';
import type { RecordBatch, RequestRecord } from './record.js';
import { writeBatches, type IngestResult, type Part, type WaitingBatch, type WriteOptions } from './write-batches.js';

export interface Ingest {
  /**
   * Resolves after the commit. Rejects with `busy` (503, Retry-After) when the queue is full: the node keeps the batch
   * and tries again.
   */
  accept(batch: RecordBatch): Promise<IngestResult>;
  /** Rows waiting to be written. */
  readonly waitingRows: number;
}

export interface IngestOptions extends WriteOptions {
  /** How much is masked: `personal` while privacy_mode is on. */
  readonly maskLevel: () => Promise<MaskLevel>;
  readonly masker: Pick<Masker, 'mask'>;
  /** Where clients are; left out: unknown. */
  readonly locations?: Pick<Locations, 'refresh' | 'locate'>;
  /** Waiting rows from which requests are sampled, and from which batches are refused. */
  readonly sampleAboveRows?: number;
  readonly refuseAboveRows?: number;
  /** Of the embedded database. */
  readonly ordinary?: OrdinaryLimit;
}

const rowsPerTransaction = 10_000;
/** 10 ms of the embedded database; four times that on a machine that is busy. */
const rowsPerPart = 200;
const sampleEvery = 10;

export function createIngest(options: IngestOptions): Ingest {
  const { database, sampleAboveRows = 60_000, refuseAboveRows = 200_000 } = options;
  const queue: WaitingBatch[] = [];
  const days = new Set<number>();
  const admit =
    database.kind === 'embedded' ? createOrdinaryBucket(options.ordinary ?? ordinaryLimit) : (wanted: number) => wanted;
  let waitingRows = 0;
  let isWriting = false;

  const write = async (): Promise<void> => {
    if (isWriting) return;
    isWriting = true;
    try {
      while (queue.length > 0) {
        // the embedded database lets others in between two batches
        const taken = takeTogether(queue, database.kind === 'postgres' ? rowsPerTransaction : 0);
        await writeBatches(options, days, taken);
        waitingRows -= taken.reduce((sum, { rows }) => sum + rows, 0);
      }
    } finally {
      isWriting = false;
    }
  };
  return {
    async accept(batch) {
      const level = await options.maskLevel();
      await options.locations?.refresh();
      if (waitingRows > refuseAboveRows)
        throw new ApiError('busy', 'Too many records are waiting to be written. Keep the batch and send it again.', {
          headers: { 'retry-after': '2' },
        });
      const isSampled = waitingRows > sampleAboveRows;
      const parts = split(batch, database.kind === 'postgres' ? Infinity : rowsPerPart).map((records) =>
        choosePart(records, (requests) => {
          const sampled = isSampled ? sampleOrdinary(requests, Math.ceil(requests.length / sampleEvery)) : requests;
          const ordinary = sampled.filter(isOrdinary).length;
          return sampleOrdinary(sampled, admit(ordinary, options.now()));
        }),
      );
      const rows = parts.reduce((sum, { requests, events }) => sum + requests.length + events.length, 0);
      const { node, batch_id, dropped } = batch;
      const kept = { node, batch_id, ...(dropped === undefined ? {} : { dropped }) };
      waitingRows += rows;
      const masked = await Promise.all(parts.map((part) => maskPart(part, level, options))).catch((error: unknown) => {
        waitingRows -= rows; // the node sends it again
        throw error;
      });
      return new Promise((resolve, reject) => {
        queue.push({ batch: kept, parts: masked, rows, resolve, reject });
        void write();
      });
    },
    get waitingRows() {
      return waitingRows;
    },
  };
}

/** The first of the queue, and those behind it until they have so many rows together. */
function takeTogether(queue: WaitingBatch[], rowsMax: number): WaitingBatch[] {
  const taken: WaitingBatch[] = [];
  for (let rows = 0; queue.length > 0 && (taken.length === 0 || rows < rowsMax); ) {
    const next = queue.shift() as WaitingBatch;
    rows += next.rows;
    taken.push(next);
  }
  return taken;
}

type Records = Pick<RecordBatch, 'requests' | 'events'>;

const isOrdinary = ({ verdict }: RequestRecord): boolean => verdict === 'pass';

/** All that is not ordinary, and of the rest so many, spread over all of them. */
function sampleOrdinary(requests: readonly RequestRecord[], kept: number): readonly RequestRecord[] {
  const ordinary = requests.filter(isOrdinary).length;
  if (kept >= ordinary) return requests;
  let seen = 0;
  return requests.filter((record) => {
    if (!isOrdinary(record)) return true;
    seen++;
    return Math.floor((seen * kept) / ordinary) > Math.floor(((seen - 1) * kept) / ordinary);
  });
}

/** With those requests that `choose` leaves. */
function choosePart(
  { requests, events }: Records,
  choose: (requests: readonly RequestRecord[]) => readonly RequestRecord[],
): Part {
  const taken = choose(requests);
  return { requests: taken, events, sampledOut: requests.length - taken.length };
}

async function maskPart(
  { requests, events, sampledOut }: Part,
  level: MaskLevel,
  { masker, locations }: Pick<IngestOptions, 'masker' | 'locations'>,
): Promise<Part> {
  const bare = {
    requests: requests.map(({ uri, user_agent }) => ({ uri, user_agent })),
    events: events.map(({ uri, details }) => ({ uri, details })),
  };
  const masked = await masker.mask({ ...nothingMasked, ...bare }, level);
  return {
    requests: requests.map((record, index) => ({ ...record, ...masked.requests[index] })),
    events: events.map((record, index) => ({
      ...record,
      ...masked.events[index],
      ...locations?.locate(record.client_ip),
    })),
    sampledOut,
  };
}

/** At least one, also of an empty batch: what nodes dropped comes with it. */
function split({ requests, events }: Records, rowsMax: number): Records[] {
  if (requests.length + events.length <= rowsMax) return [{ requests, events }];
  const parts: Records[] = [];
  for (let at = 0; at < events.length; at += rowsMax)
    parts.push({ events: events.slice(at, at + rowsMax), requests: [] });
  for (let at = 0; at < requests.length; at += rowsMax)
    parts.push({ events: [], requests: requests.slice(at, at + rowsMax) });
  return parts;
}
