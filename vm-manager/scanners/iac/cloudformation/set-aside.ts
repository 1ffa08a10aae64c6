// What people have set aside in the metadata of a resource: JSON has no comments.
//   Metadata: { gatehouse: { ignore: [{ rule: aws-s3-logging, reason: … }] } }
import type { Finding } from '../../contract.js';
import { fieldsOf, textIn, type Node } from './node.js';
import type { Template } from './template.js';

const addressOf = (type: string, name: string): string => `${type}.${name}`;

/** Rule → reason. */
function asideIn(metadata: Node | undefined): ReadonlyMap<string, string> {
  const given = fieldsOf(fieldsOf(metadata).get('gatehouse')?.node).get('ignore')?.node;
  const items = given?.kind === 'list' ? given.items : given === undefined ? [] : [given];
  return new Map(
    items.map((one) => {
      const fields = fieldsOf(one);
      const rule = one.kind === 'map' ? textIn(fields.get('rule')?.node) : textIn(one);
      return [rule, textIn(fields.get('reason')?.node) || 'no reason given'] as const;
    }),
  );
}

export function setAside(template: Template, findings: readonly Finding[]): readonly Finding[] {
  const byAddress = new Map(
    template.resources.flatMap(({ type, name, metadata }) => {
      const aside = asideIn(metadata);
      return aside.size === 0 ? [] : [[addressOf(type, name), aside] as const];
    }),
  );
  return findings.map((one) => {
    const reason = byAddress.get(one.address ?? '');
    const suppressed = one.suppressed ?? reason?.get(one.rule) ?? reason?.get('all');
    return suppressed === undefined ? one : { ...one, suppressed };
  });
}
