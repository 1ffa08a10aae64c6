// Whether what was found is exploitable behind the firewall: the same check once more, with the firewall's entry in
// the place of the target. `blocked` needs the same place to answer harmless values there as it does without, and the
// attack to get, each time, a status by which firewalls refuse: an entry that is away blocks nothing.
import type { Form, Found } from '../model.js';
import { ScanOver } from '../model.js';
import { turnsOfWord } from '../checks/check.js';
import { requestOf } from '../http/forms.js';
import { Prover, type ScanPlan } from './scanner.js';
import type { BehindWaf } from './store.js';

/** The plan, with the firewall's entry in the place of the target's origin. */
export function behind(
  plan: ScanPlan,
  waf: string,
): { readonly plan: ScanPlan; readonly move: (url: string) => string } {
  const from = new URL(plan.base).origin;
  const to = new URL(waf).origin;
  const move = (url: string): string => (url.startsWith(from) ? to + url.slice(from.length) : url);
  const { recipe } = plan;
  return {
    move,
    plan: {
      ...plan,
      base: move(plan.base),
      bounds: { ...plan.bounds, origins: [to] },
      recipe:
        recipe === null
          ? null
          : {
              ...recipe,
              checkUrl: move(recipe.checkUrl),
              ...(recipe.loginUrl === undefined ? {} : { loginUrl: move(recipe.loginUrl) }),
            },
    },
  };
}

const moved = (form: Form, move: (url: string) => string): Form => ({
  ...form,
  url: move(form.url),
  page: form.page === null ? null : move(form.page),
});

export interface Tried {
  readonly verdicts: ReadonlyMap<Found, BehindWaf>;
  /** Why it ended early: the rest is `unknown`. */
  readonly over: ScanOver | null;
}

export async function tryBehindWaf(given: ScanPlan, waf: string, found: readonly Found[]): Promise<Tried> {
  const { plan, move } = behind(given, waf);
  const prover = new Prover(plan);
  const verdicts = new Map<Found, BehindWaf>();
  try {
    await prover.logIn();
    for (const one of found) {
      const form = moved(one.form, move);
      const { proof } = await prover.prove({ checkId: one.check.id, form, param: one.param });
      if (proof !== null) verdicts.set(one, 'exploitable');
      else verdicts.set(one, (await isBlocked(prover, one, form, move)) ? 'blocked' : 'unknown');
    }
  } catch (error) {
    if (!(error instanceof ScanOver)) throw error;
    for (const one of found) if (!verdicts.has(one)) verdicts.set(one, 'unknown');
    return { verdicts, over: error };
  } finally {
    await prover.close();
  }
  return { verdicts, over: null };
}

/** By which firewalls refuse a request; 401, 404, 429 and 5xx are answers of other things. */
const refusals: ReadonlySet<number> = new Set([400, 403, 405, 406, 413, 414, 415, 418, 422, 431]);

/** Twice the attack is refused that passes without the firewall, and the harmless request is answered as there. */
async function isBlocked({ talk }: Prover, { proof }: Found, form: Form, move: (url: string) => string) {
  const { request, status } = proof.exchange;
  for (let turn = 0; turn < turnsOfWord; turn++) {
    const harmless = await talk.ask(requestOf(form));
    const attack = await talk.ask({ ...request, url: move(request.url) });
    if (attack === null || harmless === null) return false;
    if (attack.status === status || !refusals.has(attack.status)) return false;
    if (harmless.status >= 300 && harmless.status !== proof.neutral?.status) return false;
  }
  return true;
}
