// Which findings are in a package. A finding names its place as `name@version (path)`; the search of the API takes a
// name anywhere in a title or a place, so that `left` finds `left-pad` as well.

/** Whether the place of a finding is the package of this name, in whichever version. */
export function isInPackage(location: string, name: string): boolean {
  const [place, wanted] = [location.toLowerCase(), name.toLowerCase()];
  if (wanted === '' || !place.startsWith(wanted)) return false;
  const after = place.slice(wanted.length);
  return after === '' || after.startsWith('@') || after.startsWith(' (');
}
