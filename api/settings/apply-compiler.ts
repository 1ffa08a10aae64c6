// Main's side of the compile thread: started when first needed, replaced when it dies, ended when it has been idle (a
// compile at high paranoia leaves hundreds of megabytes behind).
import { Worker } from 'node:worker_threads';
import type { CompiledPolicy, CompileStart, FromCompileThread, PolicyInput, ReplayRequest, ToCompileThread } from './apply-messages.js';
import type { ApplyDiagnostic, ReplayImpact } from './contract.js';

export type CompileResult = ({ readonly kind: 'compiled' } & CompiledPolicy) | { readonly kind: 'refused'; readonly diagnostics: readonly ApplyDiagnostic[] };

export interface PolicyCompiler {
  /** Rejects when the thread dies or takes too long; what is wrong with the settings is a result. */
  compile(policy: PolicyInput): Promise<CompileResult>;
  /** null when an artifact is not on this machine. */
  replay(request: ReplayRequest): Promise<ReplayImpact | null>;
  close(): Promise<void>;
}

export interface PolicyCompilerOptions extends CompileStart {
  /** A compile that takes longer is given up with its thread. */
  readonly timeoutMs?: number;
  readonly idleMs?: number;
}

interface Waiting {
  readonly resolve: (reply: FromCompileThread) => void;
  readonly reject: (error: Error) => void;
}

export function createPolicyCompiler(options: PolicyCompilerOptions): PolicyCompiler {
  const { timeoutMs = 180_000, idleMs = 600_000, ...workerData } = options;
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let tokens = 0;
  let idle: NodeJS.Timeout | null = null;

  const abandon = (gone: Worker, error: Error): void => {
    if (worker === gone) worker = null;
    for (const [token, { reject }] of waiting) {
      waiting.delete(token);
      reject(error);
    }
  };
  const begin = (): Worker => {
    const started = new Worker(new URL('./apply-worker.js', import.meta.url), { workerData: workerData satisfies CompileStart, name: 'gatehouse-compile' });
    started.on('message', (reply: FromCompileThread) => {
      waiting.get(reply.token)?.resolve(reply);
      waiting.delete(reply.token);
      if (waiting.size === 0) rest(started);
    });
    started.on('error', (error) => abandon(started, error));
    started.on('exit', (code) => abandon(started, new Error(`the compile thread ended with ${code}`)));
    return started;
  };
  /** Nothing to do: it must not keep the process alive, and after a while it goes. */
  const rest = (resting: Worker): void => {
    resting.unref();
    idle = setTimeout(() => {
      if (worker === resting && waiting.size === 0) {
        worker = null;
        void resting.terminate();
      }
    }, idleMs);
    idle.unref();
  };
  const ask = (message: (token: number) => ToCompileThread): Promise<FromCompileThread> => {
    if (idle !== null) clearTimeout(idle);
    worker ??= begin();
    const mine = worker;
    mine.ref();
    const token = ++tokens;
    return new Promise((resolve, reject) => {
      const alarm = setTimeout(() => {
        abandon(mine, new Error(`compiling took longer than ${timeoutMs / 1000} s`));
        void mine.terminate();
      }, timeoutMs);
      const done = <T>(settle: (value: T) => void) => (value: T): void => {
        clearTimeout(alarm);
        settle(value);
      };
      waiting.set(token, { resolve: done(resolve), reject: done(reject) });
      mine.postMessage(message(token));
    });
  };
  return {
    async compile(policy) {
      const reply = await ask((token) => ({ kind: 'compile', token, policy }));
      if (reply.kind === 'compiled' || reply.kind === 'refused') return reply;
      throw new Error(reply.kind === 'failed' ? reply.reason : 'the compile thread answered another question');
    },
    async replay(request) {
      const reply = await ask((token) => ({ kind: 'replay', token, request }));
      if (reply.kind === 'replayed') return reply.impact;
      throw new Error(reply.kind === 'failed' ? reply.reason : 'the compile thread answered another question');
    },
    async close() {
      if (idle !== null) clearTimeout(idle);
      const last = worker;
      if (last === null) return;
      abandon(last, new Error('the server is closing'));
      await last.terminate();
    },
  };
}
