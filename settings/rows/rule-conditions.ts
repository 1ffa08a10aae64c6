// Conditions of custom rules as people put them together: groups of which one has to hold, each with conditions that
// all have to. What they become is in compiler/policy/conditions/.
import { Type, type Static } from '@sinclair/typebox';
import { closed, Flag, Shaped } from '../row.js';

/** How values of a field are compared. */
const texts = ['is', 'contains', 'begins_with', 'ends_with', 'matches'] as const;
const named = [...texts, 'exists'] as const;

export const conditionOperators = [...named, 'is_in', 'greater_than', 'less_than'] as const;
export type ConditionOperator = (typeof conditionOperators)[number];

interface FieldFacts {
  readonly operators: readonly ConditionOperator[];
  /** Whether one member can be named: which header, which parameter. */
  readonly hasName: boolean;
  readonly about: string;
}

/** What a condition can look at; rows of the console's builder. */
export const conditionFields = {
  path: { operators: texts, hasName: false, about: 'path, in every spelling that some server takes for it' },
  uri: { operators: texts, hasName: false, about: 'path and query as they came' },
  method: { operators: ['is'], hasName: false, about: 'method' },
  host: { operators: texts, hasName: false, about: 'header Host' },
  address: { operators: ['is_in'], hasName: false, about: 'address of the client: addresses and networks' },
  operation: { operators: ['is'], hasName: false, about: 'API operation, such as GET /orders/{id}' },
  parameter: { operators: named, hasName: true, about: 'parameter of the query or the body' },
  query_parameter: { operators: named, hasName: true, about: 'parameter of the query' },
  body_parameter: { operators: named, hasName: true, about: 'field of a form, or of JSON as json.user.name' },
  header: { operators: named, hasName: true, about: 'header of the request' },
  cookie: { operators: named, hasName: true, about: 'cookie' },
  user_agent: { operators: named, hasName: false, about: 'header User-Agent' },
  referer: { operators: named, hasName: false, about: 'header Referer' },
  content_type: { operators: named, hasName: false, about: 'header Content-Type' },
  body: { operators: texts, hasName: false, about: 'what was read of the body: names and values' },
  body_size: { operators: ['greater_than', 'less_than'], hasName: false, about: 'bytes of the body' },
  file_name: { operators: texts, hasName: false, about: 'name of an uploaded file' },
} as const satisfies Record<string, FieldFacts>;
export type ConditionField = keyof typeof conditionFields;

const fieldNames = Object.keys(conditionFields) as readonly ConditionField[];

export const RuleCondition = Type.Object(
  {
    field: Type.Unsafe<ConditionField>({ type: 'string', enum: [...fieldNames], description: 'what is looked at' }),
    name: Shaped('^[A-Za-z0-9_.[\\]*-]{0,200}$', 'write the name of a header, a parameter or a cookie', {
      default: '',
      description: 'which header, parameter or cookie; empty: any',
    }),
    operator: Type.Unsafe<ConditionOperator>({
      type: 'string',
      enum: [...conditionOperators],
      description: 'texts are compared without the case of letters, except by `matches`, a regular expression',
    }),
    values: Type.Array(Type.String({ minLength: 1, maxLength: 2000 }), {
      maxItems: 200,
      default: [],
      description: 'one of them has to fit; none for `exists`',
    }),
    is_not: { ...Flag(false), description: 'holds where nothing that is looked at fits' },
  },
  closed,
);
export type RuleCondition = Static<typeof RuleCondition>;

const RuleGroup = Type.Object(
  { all: Type.Array(RuleCondition, { minItems: 1, maxItems: 10, description: 'all of them have to hold' }) },
  closed,
);

export const RuleConditions = Type.Array(RuleGroup, {
  maxItems: 8,
  default: [],
  description: '`conditions`: groups of which one has to hold',
});
