// Main's side of a change: verify, prepare everywhere, commit everywhere, remember. Nothing that serves is touched
// before everything that can fail has succeeded; after that nothing may fail.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { giveBackMemory } from '#engine';
import { messageOf } from '../contract/errors.js';
import { checkGenerationRequest } from '../contract/check-generation.js';
import type { GenerationReply, GenerationRequest, Problem, ProxyConfig } from '../contract/index.js';
import type { GenerationPayload } from '../worker/messages.js';
import { pruneArtifacts, readShared, requireNamed, sha256Of, toShared, unpacked } from './artifacts.js';
import { writeAtomically } from './atomic-file.js';
import type { StoredGeneration } from './stored-generation.js';
import type { Supervisor } from './supervisor.js';

const prepareTimeoutMs = 60_000;
const commitTimeoutMs = 10_000;
/** By then most requests of the generation before are through, and its memory is free. */
const tidyAfterMs = 3000;

export class Generations {
  private chain: Promise<unknown> = Promise.resolve();
  /** The file that the artifact being activated was read from and held against its name. */
  private checkedPath = '';
  /** The artifact before the active one: what goes back where another node refuses the change. */
  private former = '';
  private tidying: NodeJS.Timeout | undefined;
  /** What this node cannot serve, though it has the right form. */
  findProblems: (config: ProxyConfig) => Promise<Problem[]> = () => Promise.resolve([]);
  lastOutcome: 'none' | 'active' | 'refused' = 'none';
  /** Why protected sites are answered 503 until a generation is sent (first-generation.ts); null: they are served. */
  closed: string | null = null;

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
        `generation ${this.active.id} serves, but cannot be kept in ${this.dataDir}: ${messageOf(error)}; ` +
          'after a restart the one before it would serve',
      );
      return false;
    }
  }

  /** The same, after the changes that came before. */
  persistInTurn(): Promise<boolean> {
    const turn = this.chain.then(() => this.persist());
    this.chain = turn;
    return turn;
  }

  private async store(): Promise<void> {
    const { id, sha256, artifact, config, selfTest } = this.active;
    const directory = join(this.dataDir, 'artifacts');
    await mkdir(directory, { recursive: true, mode: 0o750 });
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
    const impossible = await this.findProblems(request.config);
    if (impossible.length > 0) {
      this.lastOutcome = 'refused';
      return { outcome: 'refused', id, reason: 'this node cannot serve its configuration', problems: impossible };
    }
    let artifact: SharedArrayBuffer | null;
    try {
      artifact = await this.bytesOf(request);
    } catch (error) {
      const reason = messageOf(error); // unreadable file: the sender's to fix
      // Asked by the name alone whether it has these rules, a node without them has refused no change.
      const isQuestion = request.artifactPath === '' && (error as NodeJS.ErrnoException).code === 'ENOENT';
      return isQuestion ? { outcome: 'refused', id, reason, problems } : refused(id, reason);
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
    this.closed = null;
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
    if (request.artifactGzipBase64 !== undefined)
      return toShared(requireNamed(await unpacked(request.artifactGzipBase64), request.sha256));
    const path = request.artifactPath === '' ? this.artifactPath(request.sha256) : request.artifactPath;
    const artifact = await readShared(path);
    requireNamed(new Uint8Array(artifact), request.sha256);
    this.checkedPath = path;
    return artifact;
  }
}
