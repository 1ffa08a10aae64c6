// Main's side of a change: verify, prepare everywhere, commit everywhere, remember. Nothing that serves is touched
// before everything that can fail has succeeded; after that nothing may fail.
import { createHash } from 'node:crypto';
import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { giveBackMemory } from '#engine';
import {
  defaultLimits,
  defaultTimeouts,
  type GenerationReply,
  type GenerationRequest,
  type ProxyConfig,
  type SiteConfig,
} from '../contract.js';
import { checkGenerationRequest } from '../check-contract.js';
import type { GenerationPayload } from '../worker/messages.js';
import type { Supervisor } from './supervisor.js';

const prepareTimeoutMs = 60_000;
const commitTimeoutMs = 10_000;
/** By then most requests of the generation before are through, and its memory is free. */
const tidyAfterMs = 3000;

/** What `current.json` holds: enough to serve again with nothing else alive. */
interface StoredGeneration {
  readonly id: number;
  readonly sha256: string;
  readonly selfTest: 'inspect' | 'skip';
  readonly config: ProxyConfig;
}

export function toShared(bytes: Uint8Array): SharedArrayBuffer {
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Written whole or not at all: to a temporary name, flushed, renamed. */
export async function writeAtomically(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }); // on a full disk half a file would be in the way of the next
    throw error;
  }
}

const artifactsKept = 20;
const leftoverAfterMs = 3_600_000;

/**
 * Keeps the newest artifacts and those in `needed`; half-written files of writers that died long ago go, too. A node of
 * its own has nobody else who does it, and the one beside a control plane shares its directory and these rules.
 */
async function pruneArtifacts(directory: string, needed: readonly string[]): Promise<void> {
  const found = await Promise.all(
    (await readdir(directory)).map(async (name) => ({
      name,
      usedMs: await stat(join(directory, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  const isLeftover = (name: string, usedMs: number): boolean =>
    name.endsWith('.tmp') && usedMs < Date.now() - leftoverAfterMs;
  const artifacts = found.filter(({ name }) => /^[0-9a-f]{64}$/.test(name)).sort((a, b) => b.usedMs - a.usedMs);
  const old = [
    ...artifacts.slice(artifactsKept).filter(({ name }) => !needed.includes(name)),
    ...found.filter(({ name, usedMs }) => isLeftover(name, usedMs)),
  ];
  await Promise.all(old.map(({ name }) => rm(join(directory, name), { force: true })));
}

export class Generations {
  private chain: Promise<unknown> = Promise.resolve();
  /** The file that the artifact being activated was read from and held against its name. */
  private checkedPath = '';
  /** The artifact before the active one: what goes back where another node refuses the change. */
  private former = '';
  private tidying: NodeJS.Timeout | undefined;
  lastOutcome: 'none' | 'active' | 'refused' = 'none';

  constructor(
    private readonly dataDir: string,
    public active: GenerationPayload,
    private readonly onProblem: (message: string) => void,
  ) {}

  private artifactPath(sha256: string): string {
    return join(this.dataDir, 'artifacts', sha256);
  }

  /**
   * Keeps the active generation on disk: artifact by content, then current.json. False when the disk would not have it:
   * what serves goes on serving, only a restart would begin with an older one.
   */
  async persist(): Promise<boolean> {
    try {
      await this.store();
      return true;
    } catch (error) {
      this.onProblem(
        `generation ${this.active.id} serves, but cannot be kept in ${this.dataDir}: ${error instanceof Error ? error.message : String(error)}; after a restart the one before it would serve`,
      );
      return false;
    }
  }

  private async store(): Promise<void> {
    const { id, sha256, artifact, config, selfTest } = this.active;
    const directory = join(this.dataDir, 'artifacts');
    await mkdir(directory, { recursive: true });
    if (artifact !== null) {
      const path = this.artifactPath(sha256);
      // absent or unreadable: written anew
      const isThere = this.checkedPath === path || (await readFile(path).then(sha256Of, () => '')) === sha256;
      if (!isThere) await writeAtomically(path, new Uint8Array(artifact));
      this.checkedPath = '';
    }
    const stored: StoredGeneration = { id, sha256, selfTest, config };
    await writeAtomically(join(this.dataDir, 'current.json'), `${JSON.stringify(stored)}\n`);
    await pruneArtifacts(directory, [sha256, this.former]);
  }

  /** One change at a time, in order of arrival. */
  activate(supervisor: Supervisor, input: unknown): Promise<GenerationReply> {
    const turn = this.chain.then(() => this.activateNow(supervisor, input));
    this.chain = turn.catch(() => undefined); // the caller of `turn` hears of it; the next in line must still run
    return turn;
  }

  private async activateNow(supervisor: Supervisor, input: unknown): Promise<GenerationReply> {
    const startedMs = Date.now();
    const problems = checkGenerationRequest(input);
    const refused = (id: number, reason: string): GenerationReply => {
      this.lastOutcome = 'refused';
      return { outcome: 'refused', id, reason, problems };
    };
    if (problems.length > 0) return refused(0, 'the request is not a generation');
    const request = input as GenerationRequest;
    const id = request.id === 0 ? this.active.id + 1 : request.id;
    if (id <= this.active.id)
      return refused(
        id,
        `generation ${id} is not newer than the active ${this.active.id}; send a larger id, or 0 to have one chosen`,
      );
    let artifact: SharedArrayBuffer | null;
    try {
      artifact = await this.bytesOf(request);
    } catch (error) {
      return refused(id, error instanceof Error ? error.message : String(error)); // unreadable file: the sender's to mend
    }
    const payload: GenerationPayload = {
      id,
      sha256: request.sha256,
      artifact,
      config: request.config,
      selfTest: request.selfTest ?? 'inspect',
    };
    const outcome = await supervisor.prepare(payload, prepareTimeoutMs);
    if (outcome.kind === 'refused') return refused(id, outcome.reason);
    if (this.active.sha256 !== payload.sha256) this.former = this.active.sha256;
    this.active = payload; // from here a worker that starts loads the new one
    const workers = await supervisor.commit(id, commitTimeoutMs);
    this.lastOutcome = 'active';
    const isPersisted = await this.persist();
    clearTimeout(this.tidying);
    this.tidying = setTimeout(giveBackMemory, tidyAfterMs).unref();
    return { outcome: 'active', id, sha256: payload.sha256, workers, isPersisted, tookMs: Date.now() - startedMs };
  }

  /** Bytes carried along, read from disk, or kept from the active generation when the hash is the same. */
  private async bytesOf(request: GenerationRequest): Promise<SharedArrayBuffer | null> {
    if (request.sha256 === '') return null;
    if (request.sha256 === this.active.sha256 && this.active.artifact !== null) return this.active.artifact;
    this.checkedPath = '';
    if (request.artifactBase64 !== undefined)
      return toShared(requireNamed(Buffer.from(request.artifactBase64, 'base64'), request.sha256));
    const path = request.artifactPath === '' ? this.artifactPath(request.sha256) : request.artifactPath;
    const artifact = await readShared(path);
    requireNamed(new Uint8Array(artifact), request.sha256);
    this.checkedPath = path;
    return artifact;
  }
}

function requireNamed<T extends Uint8Array>(bytes: T, announced: string): T {
  const sha256 = sha256Of(bytes);
  if (sha256 !== announced) throw new Error(`the artifact's SHA-256 is ${sha256}, announced was ${announced}`);
  return bytes;
}

/** A file straight into memory that all threads see: 20 MB are not copied and leave nothing to collect. */
async function readShared(path: string): Promise<SharedArrayBuffer> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const shared = new SharedArrayBuffer(size);
    const bytes = new Uint8Array(shared);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await file.read(bytes, at, size - at, at);
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
      at += bytesRead;
    }
    return shared;
  } finally {
    await file.close();
  }
}

/** Limits that an older release did not know take their defaults: an update must not cost what served before it. */
function withDefaults(stored: StoredGeneration): StoredGeneration {
  const { config } = stored;
  return {
    ...stored,
    config: {
      ...config,
      limits: { ...defaultLimits, ...config.limits },
      timeouts: { ...defaultTimeouts, ...config.timeouts },
    },
  };
}

/**
 * The last active generation; 'none' before the first; 'unreadable' when there was one and nobody knows what it was.
 * Rules that are gone or damaged are replaced by those of `local`. `onProblem` hears of both; `whenUnreadable` says
 * what follows.
 */
export async function loadStored(
  dataDir: string,
  local: GenerationPayload,
  whenUnreadable: string,
  onProblem: (message: string) => void,
): Promise<GenerationPayload | 'none' | 'unreadable'> {
  const path = join(dataDir, 'current.json');
  let stored: StoredGeneration;
  try {
    stored = withDefaults(JSON.parse(await readFile(path, 'utf8')) as StoredGeneration);
    const problems = checkGenerationRequest({
      id: stored.id,
      sha256: stored.sha256,
      artifactPath: '',
      config: stored.config,
    });
    if (problems.length > 0) throw new Error(problems.map(({ path: at, message }) => `${at} ${message}`).join('; '));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    onProblem(
      `${path}, what served last, cannot be used (${error instanceof Error ? error.message : String(error)}); ${whenUnreadable}`,
    );
    return 'unreadable';
  }
  try {
    const bytes = stored.sha256 === '' ? null : await readFile(join(dataDir, 'artifacts', stored.sha256));
    if (bytes !== null && sha256Of(bytes) !== stored.sha256) throw new Error('its artifact is damaged');
    return {
      id: stored.id,
      sha256: stored.sha256,
      artifact: bytes === null ? null : toShared(bytes),
      config: stored.config,
      selfTest: stored.selfTest,
    };
  } catch (error) {
    onProblem(
      `the rules that ${path} names cannot be used (${error instanceof Error ? error.message : String(error)}); ${localRulesServe}`,
    );
    return withLocalRules(stored, local);
  }
}

export const localRulesServe =
  'its sites, mode and limits serve with the rules of the local settings, until a control plane sends others';

/** What served last under rules that can be loaded: requests go where they went, and are inspected. */
export function withLocalRules(
  { id, config }: Pick<GenerationPayload, 'id' | 'config'>,
  local: GenerationPayload,
): GenerationPayload {
  return { ...local, id: id + 1, config };
}

/** What answers everything with 503: one site that is protected, without rules to inspect it by. */
export function closed({ id, config }: Pick<GenerationPayload, 'id' | 'config'>): GenerationPayload {
  const site: SiteConfig = {
    name: 'closed',
    prefix: '/',
    host: null,
    upstream: 'http://127.0.0.1:9',
    protected: true,
    failMode: 'closed',
    mode: null,
    hostPolicy: 'upstream',
    verifyUpstreamCertificate: true,
  };
  return {
    id,
    sha256: '',
    artifact: null,
    selfTest: 'skip',
    config: { ...config, sites: [site], sitesFromEnvironment: false },
  };
}
