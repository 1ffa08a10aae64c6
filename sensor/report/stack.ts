// Where the application called what is reported: its own files, as paths from where it was started.
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Place {
  /** As an address of a file system; empty where no frame is of the application. */
  readonly path: string;
  /** From the working directory, with slashes. */
  readonly file: string;
  readonly line: number | null;
  /** The application's frames first to last, at most thirty, without those of Node.js and of the sensor. */
  readonly frames: readonly string[];
  readonly files: readonly string[];
}

const framesMax = 30;
/** The package is one file. */
const own = fileURLToPath(import.meta.url);
const form = /^\s*at (?:(?:async )?(.*?) \()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^)]*?):(\d+):(\d+)\)?$/;

const pathOf = (written: string): string => {
  try {
    return written.startsWith('file://') ? fileURLToPath(written) : written;
  } catch (error) {
    if (error instanceof TypeError) return written;
    throw error;
  }
};

/** Of the call that runs now. Costs some microseconds: only what is about to be reported asks. */
export function placeNow(): Place {
  const most = Error.stackTraceLimit;
  const prepare = Error.prepareStackTrace;
  Error.stackTraceLimit = framesMax + 20;
  // programs that map their sources replace it, and may give no text
  Error.prepareStackTrace = undefined as never;
  const stack = String(new Error('here').stack);
  Error.stackTraceLimit = most;
  if (prepare !== undefined) Error.prepareStackTrace = prepare;
  const frames: string[] = [];
  const files: string[] = [];
  let first: { readonly path: string; readonly line: number } | null = null;
  for (const text of stack.split('\n').slice(1)) {
    const found = form.exec(text);
    if (found === null) continue;
    const path = pathOf(found[2] ?? '');
    if (path === own) continue;
    const file = relative(process.cwd(), path).replaceAll(sep, '/');
    frames.push(`${found[1] === undefined ? '' : `${found[1]} `}(${file}:${found[3]})`);
    if (path.includes('node_modules')) continue;
    files.push(path);
    first ??= { path, line: Number(found[3]) };
  }
  return {
    path: first?.path ?? '',
    file: first === null ? '' : relative(process.cwd(), first.path).replaceAll(sep, '/'),
    line: first?.line ?? null,
    frames: frames.slice(0, framesMax),
    files: [...new Set(files)],
  };
}
