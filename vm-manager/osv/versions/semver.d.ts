// What is used of the package; its own types are a package of their own.
declare module 'semver' {
  const semver: {
    compare(left: string, right: string): -1 | 0 | 1;
    minVersion(range: string): { readonly version: string } | null;
    satisfies(version: string, range: string): boolean;
    valid(version: string, options: { readonly loose: boolean }): string | null;
  };
  export default semver;
}
