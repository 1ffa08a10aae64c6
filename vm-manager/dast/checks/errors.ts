// What an application says of itself when a request is not as it expects: broken bodies, values of another type.
import { requestOf } from '../http/forms.js';
import type { Exchange, Form, Param, Proof } from '../model.js';
import { everyTurn, everywhere, turnsOfWord, type Check, type Probe } from './check.js';
import { hasTrace } from './passive.js';

const paramsMax = 6;

/** Each in one way that its form does not foresee. */
function unforeseen({
  form,
}: Probe): { readonly attack: string; readonly send: (talk: Probe['talk']) => Promise<Exchange | null> }[] {
  const ways: ReturnType<typeof unforeseen> = [];
  const request = requestOf(form);
  if (form.bodyKind === 'json' || form.bodyKind === 'json-list')
    ways.push({
      attack: 'a body that is no JSON',
      send: async (talk) => talk.ask({ ...request, body: '{"a": [1, }' }),
    });
  const changeable = form.params.filter(({ isFixed, isToken, place }) => !isFixed && !isToken && place !== 'path');
  for (const param of changeable.slice(0, paramsMax)) {
    const isInJson = param.place === 'body' && (form.bodyKind === 'json' || form.bodyKind === 'json-list');
    const change = (one: Param): Param =>
      isInJson ? { ...one, value: '{"a":[null]}', isRaw: true } : { ...one, name: `${one.name}[]` };
    const changed: Form = { ...form, params: form.params.map((one) => (one === param ? change(one) : one)) };
    const attack = isInJson ? `${param.name} as an object` : `${param.name}[] as a list`;
    ways.push({ attack, send: async (talk) => talk.send(changed) });
  }
  return ways;
}

async function traced(probe: Probe): Promise<Proof | null> {
  const neutral = await probe.baseline();
  // what is shown without an attack is read from the page itself
  if (neutral === null || hasTrace(neutral)) return null;
  for (const { attack, send } of unforeseen(probe)) {
    const proof = await everyTurn(turnsOfWord, async () => {
      const exchange = await send(probe.talk);
      if (exchange === null || !hasTrace(exchange)) return null;
      return {
        attack,
        exchange,
        neutral,
        why: 'The answer has frames of a stack in it, twice; without a mistake it has none.',
      };
    });
    if (proof !== null) return proof;
  }
  return null;
}

export const errorChecks: readonly Check[] = [
  {
    id: 'stack-trace-on-error',
    title: 'Stack trace after a request that is not as expected',
    severity: 'low',
    cwe: 209,
    on: 'form',
    profiles: everywhere,
    description:
      'A body that is broken, or a value of another type, makes the answer show files and functions of the program.',
    remediation: 'Show errors with a number only; write the rest to the log. Check types before values are used.',
    prove: traced,
  },
];
