// Custom rules for tests, and the requests that they carry.

/** A GET that a rule is to match, or not. */
export const ruleTest = (name: string, expect: 'match' | 'no_match', uri: string) => ({
  name,
  expect,
  method: 'GET',
  uri,
  headers: [],
  body: '',
});

export const visualRule = {
  name: 'No spiders',
  kind: 'visual',
  variable: 'REQUEST_HEADERS:User-Agent',
  operator: 'contains',
  value: 'spider',
  action: 'block',
  phase: 1,
};
export const rawRule = (id: number, condition: string, more = ''): object => ({
  name: 'raw',
  kind: 'raw',
  seclang: `SecRule ${condition} \\\n    "id:${id},phase:2,deny,status:403${more}"`,
});
