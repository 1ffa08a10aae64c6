// Custom rules in requests and answers.
import { Type, type TSchema } from '@sinclair/typebox';
import { closed } from '../http-kit/index.js';
import { CustomRule as CustomRuleSchema } from '#settings';
import { customIds, type CustomRule } from './check.js';

export const ProblemView = Type.Object({
  severity: Type.String(),
  code: Type.String(),
  message: Type.String(),
  hint: Type.String(),
  path: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  excerpt: Type.String(),
});
export const RuleView = Type.Unsafe<CustomRule>({
  type: 'object',
  additionalProperties: true,
  description: 'a custom rule as in the settings',
});
export const TestView = Type.Object({
  name: Type.String(),
  expected: Type.String(),
  got: Type.String(),
  passed: Type.Boolean(),
  variable: Type.String(),
  verdict: Type.String(),
  status: Type.Union([Type.Integer(), Type.Null()]),
});
export const SavedView = Type.Object({
  rule: RuleView,
  problems: Type.Array(ProblemView),
  tests: Type.Array(TestView),
  version: Type.Integer(),
});
/** Rule text as people read it. */
export const Seclang = Type.Union([Type.String(), Type.Null()]);
export const toSeclang = (text: string | null): string | null =>
  text === null ? null : Buffer.from(text, 'latin1').toString('utf8');

const { id, ...rest } = CustomRuleSchema.properties;
export const RuleId = id;
export const NewRule = Type.Object({ ...rest, id: Type.Optional(id) }, closed);
/** Without defaults: what a patch leaves out stays as it is. */
export const RulePatch = Type.Unsafe<Partial<Omit<CustomRule, 'id'>>>(
  Type.Partial(
    Type.Object(
      Object.fromEntries(Object.entries(rest).map(([name, { default: _, ...schema }]) => [name, schema as TSchema])),
    ),
    closed,
  ),
);
export const RuleParams = Type.Object({ id: Type.Integer({ minimum: customIds[0], maximum: customIds[1] }) });
