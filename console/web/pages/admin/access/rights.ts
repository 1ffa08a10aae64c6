// Who may call what, as a person reads it: operations gathered by the permission that they ask for. Pure.

export interface Access {
  /** `GET /api/users/:id` */
  readonly route: string;
  readonly public: boolean;
  readonly permission: string | null;
  readonly roles: readonly string[];
  /** Whether a token of the API may call it as well. */
  readonly tokens: boolean;
}

export interface Right {
  readonly key: string;
  /** Who asks for what else: public ones nobody, the manager its own permissions, nodes their token. */
  readonly kind: 'guarded' | 'public' | 'manager' | 'nodes';
  readonly permission: string | null;
  readonly roles: readonly string[];
  readonly tokens: boolean;
  readonly operations: readonly string[];
}

function kindOf({ public: isPublic, permission, route }: Access): Right['kind'] {
  if (isPublic) return 'public';
  if (permission !== null) return 'guarded';
  return / \/api\/v1(\/|$)/.test(route) ? 'manager' : 'nodes';
}

const order: readonly Right['kind'][] = ['guarded', 'public', 'manager', 'nodes'];
const inOrder = (a: Right, b: Right): number =>
  order.indexOf(a.kind) - order.indexOf(b.kind) || (a.permission ?? '').localeCompare(b.permission ?? '');

/** One for each permission, and for each set of roles where operations of one permission differ in that. */
export function gatherRights(all: readonly Access[]): readonly Right[] {
  const byKey = new Map<string, Right & { readonly operations: string[] }>();
  for (const access of all) {
    const { permission, roles, tokens, route } = access;
    const kind = kindOf(access);
    const key = [kind, permission ?? '', [...roles].sort().join('+'), String(tokens)].join('|');
    const found = byKey.get(key) ?? { key, kind, permission, roles, tokens, operations: [] };
    found.operations.push(route);
    byKey.set(key, found);
  }
  return [...byKey.values()].sort(inOrder);
}

/** Those whose permission, or one of whose operations, has every word. */
export function rightsWith(rights: readonly Right[], typed: string): readonly Right[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return rights.filter(({ permission, operations }) =>
    [permission ?? '', ...operations].some((text) => words.every((word) => text.toLowerCase().includes(word))),
  );
}
