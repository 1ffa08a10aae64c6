// What people are shown in place of a site: of an application without one its name.
interface Placed {
  readonly site: string;
  readonly applications: readonly { readonly name: string }[];
}

/** Names that begin with ~ are those of applications that go through no site. */
export const placeOf = ({ site, applications: [first] }: Placed): string =>
  site.startsWith('~') ? (first?.name ?? site) : site;
