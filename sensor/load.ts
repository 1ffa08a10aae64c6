// When a module is loaded: SQL clients are put behind a look, and direct calls of `eval` in the application's own files
// say what they run.
import Module, { createRequire } from 'node:module';
import { evalCalls } from './lexers/script.js';
import { clients } from './sinks/statements.js';
import { evalNote } from './sinks/code.js';
import { guarded } from './state.js';

interface Loader {
  _load: (request: string, parent: unknown, isMain: boolean) => unknown;
  prototype: { _compile: (content: string, filename: string, ...more: unknown[]) => unknown };
  registerHooks?: (hooks: object) => unknown;
}
interface Loaded {
  readonly source?: string | Uint8Array | null;
  readonly format?: string | null;
}

const packageOf = /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/](?!.*[\\/]node_modules[\\/])/;
const sourceMax = 2_000_000;

/** `pg` of `pg`, of `node:sqlite` its name, of a path the package that it lies in. */
function nameOf(request: string): string {
  const path = packageOf.exec(request)?.[1];
  if (path !== undefined) return path.replace('\\', '/');
  if (request === 'node:sqlite') return 'sqlite';
  return request.startsWith('mysql2/') ? 'mysql2' : request;
}

/** The exports, or what is given instead of them. */
function watched(request: string, exports: unknown): unknown {
  if ((typeof exports !== 'object' && typeof exports !== 'function') || exports === null) return exports;
  const name = nameOf(request);
  // `sqlite` without node: is a package of its own, with a database within its objects
  const watch = request === 'sqlite' ? undefined : clients[name];
  if (watch === undefined || !Object.hasOwn(clients, name)) return exports;
  let given = exports;
  guarded(() => {
    given = watch(exports) as typeof given;
  });
  return given;
}

/** The same text with a note behind each direct call of eval; lines stay where they are. */
export function withEvalNoted(text: string): string {
  if (text.length > sourceMax || !/\beval\s*\(/.test(text)) return text;
  let made = text;
  guarded(() => {
    let [from, written] = [0, ''];
    for (const at of evalCalls(text)) {
      written += text.slice(from, at) + evalNote;
      from = at;
    }
    made = written + text.slice(from);
  });
  return made;
}

const isForeign = (place: string): boolean => /[\\/]node_modules[\\/]/.test(place);

/** Modules of ES: only where Node.js lets them be read in the same thread (22.15, 23.5, 24 and later). */
function hooks(load: (name: string) => unknown): object {
  return {
    resolve(specifier: string, context: object, next: (specifier: string, context: object) => object) {
      if (specifier === 'node:sqlite') guarded(() => void watched(specifier, load(specifier)));
      return next(specifier, context);
    },
    load(url: string, context: object, next: (url: string, context: object) => Loaded) {
      const loaded = next(url, context);
      if (loaded.format !== 'module' || loaded.source === null || loaded.source === undefined) return loaded;
      const isPostgres = /[\\/]node_modules[\\/]postgres[\\/]src[\\/]index\.js$/.test(url);
      if (isForeign(url) && !isPostgres) return loaded;
      const text = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source).toString();
      if (!isPostgres) return { ...loaded, source: withEvalNoted(text) };
      const source = text.replace(/^export default (\w+);?$/m, 'export default globalThis.__gatehousePostgres($1)');
      return { ...loaded, source };
    },
  };
}

export function watchLoading(): void {
  const loader = Module as unknown as Loader;
  const load = loader._load;
  loader._load = function loadWatched(request, parent, isMain) {
    const exports: unknown = Reflect.apply(load, this, [request, parent, isMain]);
    return typeof request === 'string' ? watched(request, exports) : exports;
  };
  const compile = loader.prototype._compile;
  loader.prototype._compile = function compileNoted(content, filename, ...more) {
    const text = typeof content === 'string' && !isForeign(filename) ? withEvalNoted(content) : content;
    return Reflect.apply(compile, this, [text, filename, ...more]);
  };
  const name = '__gatehousePostgres';
  Object.defineProperty(globalThis, name, { value: clients['postgres'], enumerable: false });
  loader.registerHooks?.(hooks(createRequire(import.meta.url)));
}
