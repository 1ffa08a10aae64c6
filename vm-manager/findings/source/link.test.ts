// Lines of code at every host that is known, and nothing of what could lead elsewhere.
import t from 'tap';
import { sourceLink, type SourcePlace } from './link.js';

const place: SourcePlace = {
  repository: 'https://github.com/acme/shop',
  kind: null,
  commit: 'abcdef1234',
  branch: 'main',
  path: 'src/a b/üser#1.ts',
  line: 7,
};
const file = 'src/a%20b/%C3%BCser%231.ts';

t.test('27.8: the address of a line by the host', (t) => {
  const table: readonly (readonly [Partial<SourcePlace>, string | null])[] = [
    [{}, `https://github.com/acme/shop/blob/abcdef1234/${file}#L7`],
    [{ repository: 'git@github.com:acme/shop.git' }, `https://github.com/acme/shop/blob/abcdef1234/${file}#L7`],
    [
      { repository: 'ssh://git@github.acme.example:2222/a/b.git' },
      `https://github.acme.example/a/b/blob/abcdef1234/${file}#L7`,
    ],
    [{ commit: '', branch: 'feature/x' }, `https://github.com/acme/shop/blob/feature/x/${file}#L7`],
    [{ line: null }, `https://github.com/acme/shop/blob/abcdef1234/${file}`],
    [{ repository: 'https://gitlab.com/g/sub/p.git' }, `https://gitlab.com/g/sub/p/-/blob/abcdef1234/${file}#L7`],
    [{ repository: 'https://bitbucket.org/t/r' }, `https://bitbucket.org/t/r/src/abcdef1234/${file}#lines-7`],
    [{ repository: 'https://codeberg.org/t/r' }, `https://codeberg.org/t/r/src/commit/abcdef1234/${file}#L7`],
    [
      { repository: 'https://gitea.x.example/t/r', commit: '' },
      `https://gitea.x.example/t/r/src/branch/main/${file}#L7`,
    ],
    [
      { repository: 'https://bitbucket.x.example/scm/PRO/r.git' },
      `https://bitbucket.x.example/projects/PRO/repos/r/browse/${file}?at=abcdef1234#7`,
    ],
    [
      { repository: 'https://bitbucket.x.example/scm/~joe/r.git', commit: '', branch: 'a/b' },
      `https://bitbucket.x.example/users/joe/repos/r/browse/${file}?at=refs%2Fheads%2Fa%2Fb#7`,
    ],
    [{ repository: 'https://code.x.example:8443/t/r' }, null],
    [
      { repository: 'https://code.x.example:8443/t/r', kind: 'gitlab' },
      `https://code.x.example:8443/t/r/-/blob/abcdef1234/${file}#L7`,
    ],
    [{ path: './src/a.ts' }, 'https://github.com/acme/shop/blob/abcdef1234/src/a.ts#L7'],
  ];
  for (const [more, link] of table) t.equal(sourceLink({ ...place, ...more }), link, JSON.stringify(more));
  t.end();
});

t.test('27.8: what would lead elsewhere has no address', (t) => {
  const bad: readonly Partial<SourcePlace>[] = [
    { repository: 'javascript:alert(1)//github.com/a/b' },
    { repository: 'file:///github.com/a/b' },
    { repository: 'https://github.com/a' },
    { repository: 'https://github.com/a/../b/c' },
    { repository: 'https://github.com/a/b%2f..%2fc' },
    { repository: 'https://github.com.evil.example' },
    { path: '../../settings' },
    { path: 'a/../../b' },
    { path: '/etc/passwd' },
    { path: 'C:/a.ts' },
    { path: 'a\\b.ts' },
    { path: 'a\u0000b' },
    { path: '' },
    { commit: '', branch: '../x' },
    { commit: '', branch: '' },
    { commit: 'HEAD^', branch: 'a b' },
  ];
  for (const more of bad)
    if (more.repository === 'https://github.com/a/../b/c')
      t.match(sourceLink({ ...place, ...more }), /^https:\/\/github\.com\/b\/c\/blob/, 'read as browsers read it');
    else t.equal(sourceLink({ ...place, ...more }), null, JSON.stringify(more));
  const odd = sourceLink({ ...place, repository: 'https://user:secret@github.com/a/b?x=1#y' });
  t.equal(odd, `https://github.com/a/b/blob/abcdef1234/${file}#L7`, 'without user, query and fragment');
  t.equal(sourceLink({ ...place, line: Number.NaN }), sourceLink({ ...place, line: null }));
  t.end();
});
