/** Whether a request's address is one of the template: as many segments, and the same where it has no parameter. */
export function matchesTemplate(template: string, uri: string): boolean {
  const wanted = template.split('/');
  const given = (uri.split(/[?#]/, 1)[0] ?? '').split('/');
  // operations of GraphQL stand below the path that is asked for
  if (/^(?:query|mutation|subscription):/.test(wanted.at(-1) ?? '')) wanted.pop();
  return wanted.length === given.length && wanted.every((one, at) => one.startsWith('{') || one === given[at]);
}
