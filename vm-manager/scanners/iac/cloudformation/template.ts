// A template of CloudFormation: what makes a text one, its parameters, mappings, conditions and resources.
import { fieldsOf, textIn, Unreadable, type Field, type Node } from './node.js';
import { readJson } from './read-json.js';
import { readYaml } from './read-yaml.js';

export interface DeclaredResource {
  /** Logical id. */
  readonly name: string;
  readonly type: string;
  readonly line: number;
  readonly endLine: number;
  readonly properties: Node | undefined;
  readonly metadata: Node | undefined;
}

const typeForm = /^(?:AWS|Alexa|Custom)::[\w:@-]+$|^[A-Z]\w*(?:::\w+){1,4}$/;
/** AWS takes 500. */
const resourcesMax = 1000;
/** Transforms that add resources or resolve functions, and change no property that a rule asks for. */
const knownTransforms = /^AWS::(?:Serverless-2016-10-31|LanguageExtensions|SecretsManager-\d|CodeDeployBlueGreen)/;

/** Whether a text can be a template; the parser decides. */
export const mayBeTemplate = (text: string): boolean =>
  /\bResources\b/.test(text) && /["']?Type["']?\s*:\s*["']?(?:AWS|Alexa|Custom)::/.test(text);

/** It says itself that it is one: what cannot be read of it is a fault. */
export const saysTemplate = (text: string): boolean =>
  /^[ \t{]*["']?AWSTemplateFormatVersion["']?\s*:/m.test(text) ||
  (/^[ \t]{0,2}["']?Resources["']?\s*:/m.test(text) && /^[ \t]+["']?Type["']?\s*:\s*["']?AWS::\w+::\w+/m.test(text));

const lastLine = (node: Node): number => {
  if (node.kind === 'list') return node.items.reduce((last, one) => Math.max(last, lastLine(one)), node.line);
  if (node.kind === 'scalar') return node.line;
  return [...node.fields.values()].reduce(
    (last, { node: one, line }) => Math.max(last, line, lastLine(one)),
    node.line,
  );
};

/** Of two mappings, what is in either; the second wins, and mappings within them are joined the same way. */
function merged(base: Node | undefined, own: Node | undefined): Node | undefined {
  if (base?.kind !== 'map') return own ?? base;
  if (own?.kind !== 'map') return own === undefined || (own.kind === 'scalar' && own.value === null) ? base : own;
  const fields = new Map<string, Field>(base.fields);
  for (const [name, field] of own.fields) {
    const under = base.fields.get(name)?.node;
    const isPlain = under?.kind === 'map' && field.node.kind === 'map';
    fields.set(name, isPlain ? { line: field.line, node: merged(under, field.node) ?? field.node } : field);
  }
  return { kind: 'map', line: own.line, fields };
}

/** What begins as JSON may be YAML in its flow form. */
function rootOf(text: string): Node {
  if (!/^\s*\{/.test(text)) return readYaml(text);
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof Unreadable) || /^\s*\{\s*["}]/.test(text)) throw error;
    return readYaml(text);
  }
}

export class Template {
  readonly resources: readonly DeclaredResource[];
  readonly parameters: ReadonlyMap<string, Field>;
  readonly mappings: ReadonlyMap<string, Field>;
  readonly conditions: ReadonlyMap<string, Field>;
  /** A macro that is not AWS’s own may change whatever stands there. */
  readonly hasMacro: boolean;
  /** More resources than are looked at. */
  readonly isCut: boolean;

  private constructor(root: Node) {
    const fields = fieldsOf(root);
    const section = (name: string): ReadonlyMap<string, Field> => fieldsOf(fields.get(name)?.node);
    this.parameters = section('Parameters');
    this.mappings = section('Mappings');
    this.conditions = section('Conditions');
    const given = fields.get('Transform')?.node;
    const transforms = given?.kind === 'list' ? given.items : given === undefined ? [] : [given];
    const isLoop = [...section('Resources').keys()].some((name) => name.startsWith('Fn::'));
    this.hasMacro = isLoop || transforms.some((one) => !knownTransforms.test(textIn(one)));
    const globals = section('Globals');
    const all = [...section('Resources')].flatMap(([name, { line, node }]): DeclaredResource[] => {
      const own = fieldsOf(node);
      const type = textIn(own.get('Type')?.node);
      if (!typeForm.test(type)) return [];
      const [, kind] = /^AWS::Serverless::(\w+)$/.exec(type) ?? [];
      const shared = kind === undefined ? undefined : globals.get(kind)?.node;
      const properties = merged(shared, own.get('Properties')?.node);
      const metadata = own.get('Metadata')?.node;
      return [{ name, type, line, endLine: lastLine(node), properties, metadata }];
    });
    this.isCut = all.length > resourcesMax;
    this.resources = all.slice(0, resourcesMax);
  }

  /** null: it is something else. Throws `Unreadable`. */
  static read(text: string): Template | null {
    const root = rootOf(text);
    const fields = fieldsOf(root);
    const template = new Template(root);
    const isOne = fields.has('AWSTemplateFormatVersion') || template.resources.length > 0;
    return isOne && fields.has('Resources') ? template : null;
  }
}
