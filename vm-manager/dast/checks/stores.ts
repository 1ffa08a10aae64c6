// Injection into stores of documents: an operator in the place of a value. What is not equal to a random word finds
// everything; what is equal to it finds nothing, as the word itself does.
import type { Exchange, Form, Param, Proof } from '../model.js';
import { everyTurn, everywhere, likeness, turnsOfSign, word, type Check, type Probe } from './check.js';
import { reads } from './sql.js';

/** The form with the operator in the value: a member of an object in JSON, a name in brackets elsewhere. */
function withOperator(form: Form, param: Param, operator: string, operand: string): Form {
  const params = form.params.map((one): Param => {
    if (one !== param) return one;
    if (form.bodyKind === 'json' && param.place === 'body')
      return { ...one, value: JSON.stringify({ [operator]: operand }), isRaw: true };
    return { ...one, name: `${one.name}[${operator}]`, value: operand };
  });
  return { ...form, params };
}

async function operators(probe: Probe): Promise<Proof | null> {
  const { form, param, talk } = probe;
  if (param.place === 'path' || form.bodyKind === 'xml' || form.bodyKind === 'json-list') return probe.leaveOut();
  const ask = async (operator: string, operand: string): Promise<Exchange | null> =>
    talk.send(withOperator(form, param, operator, operand));
  // what is not equal to a word is every record: where the statement writes, it would change that of someone else
  if (!reads(probe)) return probe.leaveOut();
  return everyTurn(turnsOfSign, async () => {
    const random = word(12);
    const exchange = await ask('$ne', random);
    if (exchange === null || exchange.status >= 400) return null;
    const plain = await probe.with(random);
    const otherWord = word(12);
    const second = await probe.with(otherWord);
    if (second === null) return null;
    const keeps = plain !== null && likeness(plain, [random], true) === likeness(second, [otherWord], true);
    const shape = (one: Exchange): string => likeness(one, [random, '$ne', '$eq', '$gh'], keeps);
    if (plain === null || shape(plain) === shape(exchange)) return null;
    const neutral = await ask('$eq', random);
    // where any object is taken, one that is no operator finds as much
    const unknown = await ask('$gh', random);
    if (neutral === null || unknown === null) return null;
    if (shape(neutral) !== shape(plain) || shape(unknown) === shape(exchange)) return null;
    const why = `In ${turnsOfSign} turns what is not a random word was found, and what is equal to it was not.`;
    return { attack: `${param.name}: {"$ne": "${random}"}`, exchange, neutral, why };
  });
}

export const storeChecks: readonly Check[] = [
  {
    id: 'nosql-injection',
    title: 'Injection into a store of documents',
    severity: 'high',
    cwe: 943,
    on: 'param',
    profiles: everywhere,
    description: 'An operator in a value of the request changes what the store is asked for.',
    remediation: 'Take texts and numbers alone: check the type of each value before it becomes part of a query.',
    prove: operators,
  },
];
