// What is run as JavaScript: Function and its kin, vm, and `eval` where it is called by its name.
import vm from 'node:vm';
import { breaksScript, lexScript } from '../lexers/script.js';
import type { Token } from '../lexers/token.js';
import { SeenTexts } from '../report/known.js';
import { report } from '../report/report.js';
import { currentVisit, type Visit } from '../requests/visit.js';
import { guarded, sensorState } from '../state.js';
import { watchMember } from './wrap.js';

const textMax = 100_000;
const seen = new SeenTexts();

function look(visit: Visit, sink: string, text: unknown): void {
  if (typeof text !== 'string' || text.length > textMax || seen.hasSeen(text)) return;
  let tokens: Token[] | null = null;
  for (const value of visit.values()) {
    if (!text.includes(value.text)) continue;
    tokens ??= lexScript(text);
    const at = breaksScript(text, value.text, tokens);
    if (at === null) continue;
    const effect = 'is run as code, beyond the place of one value';
    report(visit, { attack: 'code_injection', sink, value, text, at, effect });
    return;
  }
}

function lookNow(sink: string, texts: readonly unknown[]): void {
  const visit = sensorState.isOn ? currentVisit() : undefined;
  if (visit === undefined) return;
  guarded(() => {
    for (const text of texts) look(visit, sink, text);
  });
}

type Maker = typeof Function;

/** The maker stays what it was for `instanceof` and for `constructor`: both lead to the same object. */
function watchMaker(maker: Maker, sink: string): Maker {
  const watched: Maker = new Proxy(maker, {
    apply(target, self, given: string[]) {
      lookNow(sink, given);
      return Reflect.apply(target, self, given) as unknown;
    },
    construct(target, given: string[], made): object {
      lookNow(sink, given);
      return Reflect.construct(target, given, made === watched ? target : made) as object;
    },
  });
  const held = Object.getOwnPropertyDescriptor(maker.prototype, 'constructor');
  Object.defineProperty(maker.prototype, 'constructor', { ...held, value: watched });
  return watched;
}

const setter = '__gatehouseEval';

/** Put behind each `eval(`: the text is assigned to it, which gives the text on. */
export const evalNote = `globalThis.${setter}=`;

export function watchCode(): void {
  const kinds: readonly [Maker, string][] = [
    [(async () => undefined).constructor as Maker, 'AsyncFunction'],
    [function* none(): Generator {}.constructor as Maker, 'GeneratorFunction'],
  ];
  for (const [maker, sink] of kinds) watchMaker(maker, sink);
  globalThis.Function = watchMaker(Function, 'Function');
  Object.defineProperty(globalThis, setter, {
    set(text: unknown) {
      lookNow('eval', [text]);
    },
    enumerable: false,
  });
  for (const name of ['runInContext', 'runInNewContext', 'runInThisContext', 'compileFunction', 'Script'])
    watchMember(vm, name, (visit, [text]) => look(visit, `vm.${name}`, text));
}
