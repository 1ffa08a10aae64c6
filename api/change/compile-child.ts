// The process that compiles, as the control plane holds it, and what became of it as a sentence.
// A process and not a thread, because the threads that V8 collects garbage and optimises with belong to the process: at
// the priority of the API they took more of the processors during an apply than the compiling itself (measured: 840 ms
// of 1,150), from the same two cores that serve requests. What it held goes back to the system when it ends.
import { ApiError } from '../http-kit/index.js';
import {
  outOfMemory,
  startProcess,
  unexpectedEnd,
  type HeldProcess,
  type ProcessEnd,
} from '../processes/held-process.js';
import type { CompileStart, FromCompileProcess, ToCompileProcess } from './compile-messages.js';

/**
 * Of JavaScript's heap, in MiB: ten times what the whole rule set needs at the highest paranoia level. Beyond it the
 * process ends.
 */
export const heapMbMax = 2048;

export type CompileChild = HeldProcess<ToCompileProcess>;

export interface CompileChildEvents {
  readonly onMessage: (from: CompileChild, message: FromCompileProcess) => void;
  /** Once, when it is gone or could not be started; `error` says why. */
  readonly onEnd: (gone: CompileChild, error: Error) => void;
}

/** `heapMb` as `heapMbMax`. Throws where the system has no room for another process. */
export function startCompileChild(
  start: CompileStart,
  { onMessage, onEnd }: CompileChildEvents,
  heapMb: number,
): CompileChild {
  return startProcess<ToCompileProcess, FromCompileProcess>({
    entry: new URL('./compile-entry.js', import.meta.url),
    args: [JSON.stringify(start)],
    heapMb,
    isLoud: true,
    onMessage,
    onEnd: (gone, end) =>
      onEnd(
        gone,
        end instanceof Error
          ? new Error(`the compile process cannot be started: ${end.message}`)
          : errorOfEnd({ ...end, heapMb }),
      ),
  });
}

/** Why it ended, for people: what they can fix says how, anything else is a fault of ours (500). */
export function errorOfEnd({ heapMb, ...end }: ProcessEnd & { readonly heapMb: number }): Error {
  if (outOfMemory(end))
    return new ApiError(
      'apply_refused',
      `Compiling the rules needs more than the ${heapMb} MiB of memory that it may take. ` +
        'Fewer custom rules, shorter lists in them, or a lower paranoia level need less.',
    );
  if (end.signal === 'SIGKILL')
    return new ApiError(
      'busy',
      'Compiling the rules was ended from outside (SIGKILL), as a system does that is short of memory: its log says ' +
        'so. Give the machine more memory, or lower the paranoia level, and send the same again.',
      { headers: { 'retry-after': '10' } },
    );
  return unexpectedEnd('the compile process', end);
}
