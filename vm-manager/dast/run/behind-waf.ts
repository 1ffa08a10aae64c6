// Whether what was found is exploitable behind the firewall: the same check once more, with the firewall's entry in
// the place of the target. `blocked` needs the same place to answer harmless values there as it does without.
import type { Form, Found } from '../model.js';
import { ScanOver } from '../model.js';
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

export async function tryBehindWaf(
  given: ScanPlan,
  waf: string,
  found: readonly Found[],
): Promise<ReadonlyMap<Found, BehindWaf>> {
  const { plan, move } = behind(given, waf);
  const prover = new Prover(plan);
  const verdicts = new Map<Found, BehindWaf>();
  try {
    await prover.logIn();
    for (const one of found) {
      const form = moved(one.form, move);
      const proof = await prover.prove({ checkId: one.check.id, form, param: one.param });
      if (proof !== null) verdicts.set(one, 'exploitable');
      else verdicts.set(one, (await isBlocked(prover, one, form, move)) ? 'blocked' : 'unknown');
    }
  } catch (error) {
    if (!(error instanceof ScanOver)) throw error;
    for (const one of found) if (!verdicts.has(one)) verdicts.set(one, 'unknown');
  }
  return verdicts;
}

/** The attack is answered otherwise than without the firewall, and the harmless request is not. */
async function isBlocked(prover: Prover, { proof, form: direct }: Found, form: Form, move: (url: string) => string) {
  const { request, status } = proof.exchange;
  const attack = await prover.talk.ask({ ...request, url: move(request.url) });
  const harmless = await prover.talk.ask(requestOf(form));
  if (attack === null || harmless === null) return false;
  const isRefused = attack.status !== status && attack.status >= 400;
  return isRefused && harmless.status < 400 && direct.method === form.method;
}
