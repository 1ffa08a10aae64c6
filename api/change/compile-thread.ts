// Main's side of the compile thread: started when first needed, replaced when it dies, ended when it has been idle (a
// compile at high paranoia leaves hundreds of megabytes behind).
import type { RuleSettings } from '#settings';
import { Worker } from 'node:worker_threads';
import { giveBackMemory } from '#compiler';
import type {
  CompiledPolicy,
  CompileStart,
  FromCompileThread,
  ReplayRequest,
  ToCompileThread,
} from './compile-messages.js';
import type { ApplyDiagnostic, ReplayImpact } from './contract.js';

export interface Compiled extends CompiledPolicy {
  readonly kind: 'compiled';
  /** Settles when the artifact is on disk, flushed: nobody may be sent to it before. */
  readonly stored: Promise<void>;
}
export type CompileResult = Compiled | { readonly kind: 'refused'; readonly diagnostics: readonly ApplyDiagnostic[] };

export interface PolicyCompiler {
  /**
   * Rejects when the thread dies or takes too long; what is wrong with the settings is a result. `anew`: even if this
   * policy was compiled before.
   */
  compile(policy: RuleSettings, anew?: boolean): Promise<CompileResult>;
  /** null when an artifact is not on this machine, or of another release. */
  replay(request: ReplayRequest): Promise<ReplayImpact | null>;
  close(): Promise<void>;
}

export interface PolicyCompilerOptions extends CompileStart {
  /** An unpacked OWASP CRS release; a function is asked at every compile. */
  readonly crsDirectory: string | (() => string);
  /** A compile that takes longer is given up with its thread. */
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

const closing = 'the server is closing';

interface Waiting {
  readonly resolve: (reply: FromCompileThread) => void;
  readonly reject: (error: Error) => void;
}

export function createPolicyCompiler(options: PolicyCompilerOptions): PolicyCompiler {
  const thread = new CompileThread(options);
  const { crsDirectory: named } = options;
  const unexpected = (reply: FromCompileThread): Error =>
    new Error(reply.kind === 'failed' ? reply.reason : 'the compile thread answered another question');
  return {
    async compile(policy, anew = false) {
      const crsDirectory = typeof named === 'string' ? named : named();
      const reply = await thread.ask((token) => ({ kind: 'compile', token, policy, crsDirectory, anew }));
      if (reply.kind === 'refused') return reply;
      if (reply.kind === 'compiled') return { ...reply, stored: thread.storing(reply.token) };
      throw unexpected(reply);
    },
    async replay(request) {
      const reply = await thread.ask((token) => ({ kind: 'replay', token, request }));
      if (reply.kind === 'replayed') return reply.impact;
      throw unexpected(reply);
    },
    close: () => thread.close(),
  };
}

class CompileThread {
  private readonly waiting = new Map<number, Waiting>();
  /** Artifacts on their way to the disk. */
  private readonly stores = new Map<
    number,
    { readonly done: Promise<void>; readonly resolve: () => void; readonly reject: (error: Error) => void }
  >();
  private worker: Worker | null = null;
  private tokens = 0;
  private idle: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(private readonly options: PolicyCompilerOptions) {}

  ask(message: (token: number) => ToCompileThread): Promise<FromCompileThread> {
    const { timeoutMs = 180_000 } = this.options;
    // whoever was still reading the database when the server closed must not start a thread that nobody ends
    if (this.isClosed) return Promise.reject(new Error(closing));
    if (this.idle !== null) clearTimeout(this.idle);
    const mine = (this.worker ??= this.begin());
    mine.ref();
    const token = ++this.tokens;
    return new Promise((resolve, reject) => {
      const alarm = setTimeout(() => {
        this.abandon(mine, new Error(`compiling took longer than ${timeoutMs / 1000} s`));
        void mine.terminate();
      }, timeoutMs);
      const done =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(alarm);
          settle(value);
        };
      this.waiting.set(token, { resolve: done(resolve), reject: done(reject) });
      mine.postMessage(message(token));
    });
  }

  /** To be asked as soon as `compiled` is there. */
  storing(token: number): Promise<void> {
    return this.stores.get(token)?.done ?? Promise.resolve();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.idle !== null) clearTimeout(this.idle);
    const last = this.worker;
    if (last === null) return;
    this.abandon(last, new Error(closing));
    await last.terminate();
  }

  private begin(): Worker {
    const { unicodeMapping, artifactsDirectory, cacheDirectory, threads } = this.options;
    const workerData: CompileStart = { unicodeMapping, artifactsDirectory, cacheDirectory, threads };
    const started = new Worker(new URL('./compile-worker.js', import.meta.url), {
      workerData,
      name: 'gatehouse-compile',
    });
    started.on('message', (reply: FromCompileThread) => this.hear(started, reply));
    started.on('error', (error) => this.abandon(started, error));
    started.on('exit', (code) => this.abandon(started, new Error(`the compile thread ended with ${code}`)));
    return started;
  }

  private hear(from: Worker, reply: FromCompileThread): void {
    if (reply.kind === 'stored') {
      const store = this.stores.get(reply.token);
      this.stores.delete(reply.token);
      if (reply.problem === null) store?.resolve();
      else store?.reject(new Error(reply.problem));
    } else {
      if (reply.kind === 'compiled') this.expectStored(reply.token);
      this.waiting.get(reply.token)?.resolve(reply);
      this.waiting.delete(reply.token);
    }
    if (this.waiting.size === 0 && this.stores.size === 0) this.rest(from);
  }

  private expectStored(token: number): void {
    let [resolve, reject]: [() => void, (error: Error) => void] = [() => undefined, () => undefined];
    const done = new Promise<void>((yes, no) => ([resolve, reject] = [yes, no]));
    done.catch(() => undefined); // whoever goes on to use the artifact awaits it and hears
    this.stores.set(token, { done, resolve, reject });
  }

  /** Whoever waits on a thread that is gone hears of it; what a newer thread was asked is not touched. */
  private abandon(gone: Worker, error: Error): void {
    if (this.worker !== gone) return;
    this.worker = null;
    for (const { reject } of [...this.waiting.values(), ...this.stores.values()]) reject(error);
    this.waiting.clear();
    this.stores.clear();
  }

  /** Nothing to do: it must not keep the process alive, and after a while it goes. */
  private rest(resting: Worker): void {
    resting.unref();
    this.idle = setTimeout(() => {
      if (this.worker !== resting || this.waiting.size + this.stores.size > 0) return;
      this.worker = null;
      // what it freed stays with the C library's arenas of a thread that is gone, 120 MB of them, until somebody asks
      void resting.terminate().then(giveBackMemory);
    }, this.options.idleMs ?? 600_000);
    this.idle.unref();
  }
}
