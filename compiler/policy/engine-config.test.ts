// A7: the switch for XML that refers to what lies outside of it, from the setting to the verdict.
import { requireSettings } from '#settings';
import t from 'tap';
import { createMemoryStore } from '#engine';
import { createInterpreter } from '#engine/compile';
import { compileProgram } from '../compile-program.js';
import { smallCrs } from '../testing/small-policy.js';
import { renderPolicy, resolvePolicy } from './policy.js';

function verdictOf(settings: object, body: string): string {
  const { policy } = resolvePolicy(requireSettings(settings), smallCrs);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy));
  if (program === null) throw new Error('the policy does not compile');
  const inspector = createInterpreter(program);
  const head = {
    method: 'POST',
    uri: '/',
    protocol: 'HTTP/1.1',
    headers: ['Host', 'a', 'Content-Type', 'application/soap+xml; charset=utf-8'],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, Buffer.from(body));
  const { interruption, matched } = inspector.finish(transaction);
  return interruption === null ? 'passed' : `${interruption.ruleId} ${interruption.status} ${matched[0]?.logdata}`;
}

t.test('A7: external references are refused unless the setting lets them through', (t) => {
  const external = '<!DOCTYPE r PUBLIC "-//A" "http://e.example/x.dtd"><r/>';
  t.equal(verdictOf({}, external), '200009 400 DOCTYPE PUBLIC -//A');
  t.equal(verdictOf({ xml_external_references: 'allow' }, external), 'passed');
  t.equal(verdictOf({}, '<r>plain</r>'), 'passed');
  t.throws(() => verdictOf({ xml_external_references: 'maybe' }, external));
  t.end();
});
