// Where a test has looked and found nothing: there, and there only, an older finding of the same check is gone.
import { pathOf } from '../operations.js';
import { checkNames, type CheckName, type Judged } from './judge.js';
import type { Planned } from './plan.js';

const matches = (template: readonly string[], path: readonly string[]): boolean =>
  template.length === path.length && template.every((one, at) => one.startsWith('{') || one === path[at]);

export class Cleared {
  readonly #templates = new Map<CheckName, (readonly string[])[]>();
  /** Templates where something is broken, or not known: one member that holds says nothing of the others. */
  readonly #open = new Map<CheckName, (readonly string[])[]>();

  note({ template }: Pick<Planned, 'template'>, judged: Judged | null): void {
    const put = (into: Map<CheckName, (readonly string[])[]>, check: CheckName): void => {
      into.set(check, [...(into.get(check) ?? []), template.split('/')]);
    };
    for (const check of judged?.cleared ?? []) put(this.#templates, check);
    if (judged !== null && judged.verdict !== 'holds') put(this.#open, judged.check);
  }

  /** `rule`: as findings have it; `url`: the address of the finding. */
  covers(rule: string, url: string): boolean {
    const check = checkNames.find((one) => rule === `api-access-${one}`);
    const path = pathOf(url)?.split('/');
    if (check === undefined || path === undefined) return false;
    const isAmong = (all: readonly (readonly string[])[] | undefined): boolean =>
      all?.some((template) => matches(template, path)) === true;
    return isAmong(this.#templates.get(check)) && !isAmong(this.#open.get(check));
  }
}
