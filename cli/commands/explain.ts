// `gatehouse explain`: one raw HTTP request through the rules, told for people (or --json for programs).
import { createMemoryStore, type Verdict } from '#engine';
import { parseOptions } from '../command-line.js';
import { createEngine, parseEngineName } from '../inspect/engine-choice.js';
import { explainTransaction, formatExplanation } from '../inspect/explanation.js';
import { formatGates, walkGates } from '../inspect/gate-walk.js';
import { formatGraphql, graphqlOf } from '../inspect/graphql-place.js';
import { runRequest } from '../inspect/run-request.js';
import { parseWire } from '../inspect/wire.js';
import { readNamed, Refusal, wrongUsage } from '../refusal.js';
import { compileSettings, loadActive, type NamedProgram } from '../rules/active-rules.js';
import { loadRules } from '../rules/load-rules.js';

const usage =
  'Usage: gatehouse explain FILE|- [--settings FILE | --rules GLOB…] [--engine compiled|interpreter] [--json]';

function chooseProgram(rules: readonly string[] | undefined, settings: string | undefined): NamedProgram {
  if (rules !== undefined && settings !== undefined) throw wrongUsage('explain: give either --rules or --settings.');
  if (rules !== undefined) return { program: loadRules(rules).program, name: rules.join(', '), config: null };
  return settings === undefined ? loadActive() : compileSettings(settings);
}

/**
 * Runs the command; exit code 0 whatever the verdict is. Without --rules and --settings it asks the rules that serve.
 */
export async function runExplain(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...argv],
    allowPositionals: true,
    options: {
      rules: { type: 'string', multiple: true },
      settings: { type: 'string' },
      engine: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const path = positionals[0];
  if (path === undefined || positionals.length > 1)
    throw wrongUsage(`explain needs one file, or - for standard input.\n${usage}`);
  const wire = parseWire(readNamed(path));
  if (wire === null) throw new Refusal(`${path}: holds no HTTP request.`);
  const { program, name, config } = chooseProgram(values.rules, values.settings);
  const { inspector } = await createEngine(parseEngineName(values.engine), program);
  const walk = config === null ? null : walkGates(config, wire);
  const secondOpinion = walk?.secondOpinion ?? null;
  const graphql = graphqlOf(config, wire);
  const { transaction, verdict } = runRequest(
    inspector,
    { head: graphql.head, body: graphql.body, response: null },
    { store: createMemoryStore(), uniqueId: 'explain', nowMs: Date.now(), lastPhase: 5, secondOpinion },
  );
  const explanation = explainTransaction(transaction, verdict as Verdict, wire, program.files);
  const gates = walk === null ? '' : `${formatGates(walk)}\n\n`;
  const { operation, isChanged, decision } = graphql;
  const asked = { operation, texts_only: isChanged, refused_by: decision?.rule?.id ?? null };
  const told = {
    ...{ rules: name, site: walk?.site ?? null, gates: walk?.gates ?? null },
    graphql: operation === null && decision === null ? null : asked,
    ...explanation,
  };
  console.log(
    values.json
      ? JSON.stringify(told, null, 2)
      : `${gates}${formatGraphql(graphql)}${formatExplanation(explanation)}\nRules: ${name}`,
  );
  return 0;
}
