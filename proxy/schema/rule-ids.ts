/** Rules that stand for what does not fit; of the range of the deny list and the gates (settings/rows). */
export const schemaRuleIds = { request: 1_006_500, answer: 1_006_501, unknown: 1_006_502 } as const;

/** Of what is wrong with a request: its path, which nobody declares, or anything else. */
export const schemaRuleIdOf = ({ pointer, keyword }: { readonly pointer: string; readonly keyword: string }): number =>
  pointer === '/path' && keyword === 'unknown' ? schemaRuleIds.unknown : schemaRuleIds.request;
