// The process of one scan: engines over the bytes that it is sent. It has no environment and is ended from outside when
// it takes too long or too much memory; a file that an engine cannot read is counted by it, and the next one follows.
import { failed, nothing, together, type Engine, type Outcome } from '../contract.js';
import { scannerOf } from '../catalogue.js';
import { compile, ownFindings, type Compiled } from '../own/search.js';
import { allow } from '../secrets/allowed.js';
import { bounded, packagesMax } from './bounded.js';
import type { BatchFile, FromEngine, ToEngine } from './messages.js';

const engines = new Map<string, Engine>();
let own: readonly Compiled[] = [];

const tell = (message: FromEngine): void => {
  process.send?.(message);
};

/** One line for people of what an engine has thrown. */
const reasonOf = (error: unknown): string =>
  `cannot be read (${(error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').slice(0, 200)})`;

async function takeFile(file: BatchFile, outcomes: Map<string, Outcome[]>): Promise<void> {
  // bytes of a message are a view of something larger, or a Uint8Array
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  for (const kind of file.kinds) {
    const engine = engines.get(kind);
    if (engine === undefined) continue;
    const made = await Promise.resolve()
      .then(async () => engine.take({ path: file.path, bytes }))
      .then((found) => together([found, ownFindings(own, kind, { path: file.path, bytes })]))
      .catch((error: unknown) => failed(file.path, reasonOf(error)));
    outcomes.get(kind)?.push(made);
  }
}

const asMessage = (outcomes: ReadonlyMap<string, readonly Outcome[]>): Record<string, Outcome> =>
  Object.fromEntries([...outcomes].map(([kind, all]) => [kind, bounded(together(all), packagesMax)]));

async function answer(message: ToEngine): Promise<void> {
  if (message.type === 'own') {
    own = compile(message.additions.rules);
    return allow(message.additions.allowed);
  }
  const outcomes = new Map([...engines.keys()].map((kind) => [kind, [] as Outcome[]]));
  if (message.type === 'batch') {
    for (const file of message.files) await takeFile(file, outcomes);
    return tell({ type: 'batch', outcomes: asMessage(outcomes) });
  }
  for (const [kind, engine] of engines)
    outcomes.get(kind)?.push(
      await Promise.resolve()
        .then(async () => engine.end())
        .catch((error: unknown) => ({ ...nothing, ...failed('all files together', reasonOf(error)) })),
    );
  tell({ type: 'end', outcomes: asMessage(outcomes) });
}

async function begin(kinds: readonly string[]): Promise<void> {
  for (const kind of kinds) engines.set(kind, await scannerOf(kind).createEngine());
  process.on('message', (message: ToEngine) => {
    void answer(message).catch((error: unknown) => tell({ type: 'broken', why: reasonOf(error) }));
  });
  process.on('disconnect', () => process.exit(0));
  tell({ type: 'ready' });
}

void begin(process.argv.slice(2)).catch((error: unknown) => tell({ type: 'broken', why: reasonOf(error) }));
