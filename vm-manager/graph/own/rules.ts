// Rules of toxic combinations: those that are built in, and those that an organisation writes itself.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { slotWords } from '../../chains/classification/known.js';
import { requiredSlotsMax, toxicRules, type OwnSlot } from '../../chains/kinds/toxic-rules.js';
import { json, violatedUnique } from '../../database.js';
import { endpoint, notFound, toId, unfit, type Endpoint } from '../../kit/endpoint.js';
import { ownRulesMax } from './store.js';

const closed = { additionalProperties: false } as const;
const ofOrganisation = 'Rules of toxic combinations';

const Slot = Type.Object(
  {
    any_of: Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
      minItems: 1,
      maxItems: 20,
      description: 'capabilities as GET /graph/capabilities names them, or any of a stage: stage:entry',
    }),
    optional: Type.Optional(Type.Boolean({ description: 'filled where something fits; the rule fires without it' })),
  },
  closed,
);

const RuleView = Type.Object({
  id: Nullable(Type.String({ description: 'of an own rule' })),
  slug: Type.String(),
  name: Type.String(),
  pack: OneOf(['specification', 'further', 'own']),
  enabled: Type.Boolean(),
  slots: Nullable(Type.Array(Slot, { description: 'of an own rule' })),
  score_note: Type.String(),
});

interface RuleRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly slots: readonly OwnSlot[];
  readonly score_note: string;
}

const view = ({ id, slug, name, slots, score_note }: RuleRow) => ({
  ...{ id: String(id), slug, name, pack: 'own' as const, enabled: true, slots: [...slots], score_note },
});

const list = endpoint({
  method: 'GET',
  path: '/graph/toxic-rules',
  permission: 'view_findings',
  kind: 'C',
  summary: 'The rules of toxic combinations, built in and own, and which are in force',
  answer: Type.Object({ items: Type.Array(RuleView) }),
  handle: async ({ host, sql }) => {
    const withPack = (await host.withToxicPack?.()) ?? false;
    const own = await sql<RuleRow[]>`select * from vm_toxic_rules order by id limit ${ownRulesMax}`;
    const builtIn = toxicRules.map(({ slug, name, pack }) => ({
      ...{ id: null, slug, name, pack, enabled: pack === 'specification' || withPack, slots: null, score_note: '' },
    }));
    return { items: [...builtIn, ...own.map(view)] };
  },
});

/** Throws 422 for a word that is no capability, and for too few or too many slots that have to be filled. */
function checkSlots(slots: readonly OwnSlot[]): void {
  for (const [at, { any_of: words }] of slots.entries())
    for (const [index, word] of words.entries())
      if (!slotWords.has(word))
        throw unfit(
          `/slots/${at}/any_of/${index}`,
          'is no capability',
          'take one of GET /graph/capabilities, or stage:entry and the like',
        );
  const required = slots.filter(({ optional }) => optional !== true).length;
  if (required < 2 || required > requiredSlotsMax)
    throw unfit('/slots', `has ${required} slots that are not optional`, `give two or ${requiredSlotsMax}`);
}

const add = endpoint({
  method: 'POST',
  path: '/graph/toxic-rules',
  permission: 'edit_graph',
  ofOrganisation,
  kind: 'C',
  summary: 'Write a rule: distinct findings of an application that fill its slots are a toxic combination, from now on',
  body: Type.Object(
    {
      slug: Type.String({ pattern: '^[a-z][a-z0-9-]{2,49}$', description: 'stands in the ids of its chains' }),
      name: Type.String({ minLength: 1, maxLength: 120 }),
      slots: Type.Array(Slot, { minItems: 2, maxItems: 5 }),
      score_note: Type.Optional(Type.String({ maxLength: 500, description: 'a note; changes no score' })),
    },
    {
      ...closed,
      examples: [
        { slug: 'xss-and-idor', name: 'Script and records', slots: [{ any_of: ['xss'] }, { any_of: ['idor'] }] },
      ],
    },
  ),
  status: 201,
  answer: RuleView,
  handle: async ({ body, caller, now, audited }) => {
    const { slug, name, slots, score_note: note = '' } = body;
    checkSlots(slots);
    if (toxicRules.some((rule) => rule.slug === slug))
      throw new ApiError('conflict', `The rule ${slug} is built in. Choose another slug.`);
    const row = await audited(
      'vm.create',
      `wrote the rule of toxic combinations ${slug}`,
      async (tx) => {
        const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`
          select count(*)::int as count from vm_toxic_rules`;
        if (count >= ownRulesMax)
          throw new ApiError('conflict', `There are ${count} own rules, and no more are tried. Remove one first.`);
        const [made] = await tx<RuleRow[]>`
          insert into vm_toxic_rules (slug, name, slots, score_note, created_by, created_at)
          values (${slug}, ${name}, ${json(tx, slots)}, ${note}, ${caller.actor.name}, ${now}) returning *`;
        return made as RuleRow;
      },
      () => body,
    ).catch((error: unknown) => {
      if (violatedUnique(error) === null) throw error;
      throw new ApiError('conflict', `There is a rule ${slug} already. Choose another slug, or remove it first.`);
    });
    return view(row);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/graph/toxic-rules/:id',
  permission: 'edit_graph',
  ofOrganisation,
  kind: 'C',
  summary: 'Remove an own rule, and with it the combinations that it makes',
  status: 204,
  handle: async ({ params, audited }) => {
    const id = toId(params['id'] ?? '', 'own rule');
    await audited('vm.delete', `removed the rule of toxic combinations ${id}`, async (tx) => {
      const { count } = await tx`delete from vm_toxic_rules where id = ${id}`;
      if (count === 0) throw notFound('own rule', id);
    });
  },
});

export const ruleEndpoints: readonly Endpoint[] = [list, add, remove];
