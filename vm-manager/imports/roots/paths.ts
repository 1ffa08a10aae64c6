// Directories that a checkout lies in: what is before the first part of a path that belongs to the repository. Paths
// are compared by whole parts; a drive letter (`C:`) is the first part of its path.

interface Checkout {
  /** The directory whose name is known, at the beginning of an absolute path. */
  readonly holder: RegExp;
  /** Directories below it that are named after the repository, the run or the agent. */
  readonly levels: number;
  /** The second is called like the first, or is a letter (Azure Pipelines): otherwise it is the repository's own. */
  readonly isTwin?: true;
  /** The checkout may be further down: subgroups of GitLab, folders of Jenkins, workspaces. `deeper` tells how far. */
  readonly isOpen?: true;
  /** Directories of its images: a path that a tool writes from the root of the repository may begin with them. */
  readonly isImage?: true;
}
const checkout = (holder: string, levels = 0, more: Omit<Checkout, 'holder' | 'levels'> = {}): Checkout => ({
  holder: new RegExp(`^${holder}(?=/)`),
  levels,
  ...more,
});

/** Working directories of CI services and of containers. The first that fits counts. */
const checkouts: readonly Checkout[] = [
  // GitHub Actions, hosted and self-hosted; Azure Pipelines (a number and a letter)
  checkout('/(?:home|Users)/(?:runner|vsts)/work', 2, { isTwin: true }),
  checkout('[A-Z]:/a', 2, { isTwin: true }),
  checkout('/__w', 2, { isTwin: true }),
  checkout('(?:[A-Z]:)?/(?:[^/]+/){0,6}_work', 2, { isTwin: true }),
  checkout('/github/workspace'),
  // Bitbucket, CircleCI, CodeBuild, Drone, Tekton
  checkout('/opt/atlassian/(?:pipelines|bitbucketci)/agent/build'),
  checkout('/bitbucket/pipelines/agent/build'),
  checkout('/(?:home/circleci|root)/(?:project|repo)'),
  checkout('/codebuild/output/src\\d+/src/[^/]+\\.[a-z]+/[^/]+', 1),
  checkout('/codebuild/output/src\\d+/src', 1),
  checkout('/(?:drone|woodpecker|bitrise)/src'),
  checkout('/tekton/(?:home/)?workspace/source'),
  checkout('/workspace/source'),
  // Netlify, Vercel, Render, Harness, Bamboo, Go
  checkout('/opt/(?:build/repo|render/project/src)'),
  checkout('/vercel/path\\d+'),
  checkout('/harness'),
  checkout('/(?:[^/]+/){0,5}xml-data/build-dir', 1),
  checkout('/(?:root/|(?:home|Users)/[^/]+/)?go/src/[^/]+\\.[a-z]+/[^/]+', 1),
  checkout('/(?:root/|(?:home|Users)/[^/]+/)?go/src', 1, { isImage: true }),
  // OpenShift, runners of GitLab on a machine
  checkout('/opt/app-root/src'),
  checkout('(?:[A-Z]:)?/(?:[^/]+/){1,6}builds/[\\w-]+/\\d+', 2, { isOpen: true }),
  // stores of sources, directories of Bazel
  checkout('/(?:nix|gnu)/store', 1),
  checkout('/(?:[^/]+/){1,9}execroot', 1),
  // TeamCity, Buildkite
  checkout('(?:[A-Z]:)?/(?:[^/]+/){0,4}[Bb]uild[Aa]gent/work', 1),
  checkout('/(?:[^/]+/){0,4}buildkite-agent/builds', 3),
  // images of tools
  checkout('/usr/src/app', 0, { isImage: true }),
  checkout('/(?:var/www/html|var/task|var/app/(?:current|staging)|usr/(?:local/)?app|pwd)', 0, { isImage: true }),
  checkout('/(?:usr/src|workdir|src|app|code|repo|project|scan|tf|zap/wrk)', 0, { isImage: true }),
  // in an unknown number of levels; what lies beside the directory that the tool ran in
  checkout('/builds', 2, { isOpen: true }),
  checkout('/tekton/home/workspaces?', 1, { isOpen: true }),
  checkout('/workspaces?', 0, { isOpen: true }),
  checkout('(?:[A-Z]:)?/(?:[^/]+/){0,5}[Jj]enkins(?:_home)?/(?:[^/]+/)?workspace', 1, { isOpen: true }),
  checkout('/\\?up', 0, { isOpen: true }),
];

/** First parts of places where people and services keep checkouts; `/etc/x` of an image is no path of a repository. */
const holders = new Set(
  [
    'home',
    'Users',
    'users',
    'root',
    'tmp',
    'private',
    'builds',
    'mnt',
    'data',
    'srv',
    'work',
    'repos',
    'projects',
  ].concat([
    'checkout',
    'checkouts',
    'ci',
    'agent',
    'runner',
    'jenkins',
    'media',
    'volumes',
    'Volumes',
    'scratch',
    'opt',
    'cygdrive',
    '?unc',
  ]),
);
/** Directories in which people keep their checkouts, below their own one. */
const shelves = new Set(['code', 'dev', 'git', 'github', 'gitlab', 'workspace', 'workspaces', 'Documents', 'Desktop']);
/** Directories within repositories: a root ends before them. */
const conventional = new Set(
  ['src', 'source', 'sources', 'lib', 'libs', 'app', 'apps', 'test', 'tests', 'spec', 'pkg', 'packages', 'cmd'].concat(
    ['internal', 'include', 'public', 'scripts', 'charts', 'deploy', '.github', 'server', 'client', 'api', 'web'],
    ['backend', 'frontend', 'services', 'modules', 'components', 'config', 'infra', 'terraform', 'k8s', 'bin'],
    ['vendor', 'node_modules', 'examples'],
  ),
);

export const isAbsolute = (path: string): boolean => /^(?:\/|[A-Z]:(?:\/|$))/.test(path);
export const partsOf = (path: string): string[] => path.split('/').filter(Boolean);

/** What is left of the path below the directory; null: it lies elsewhere. Drives are compared without case. */
export function below(path: string, directory: string): string | null {
  const root = directory.replace(/\/+$/, '');
  const isWindows = /^[A-Z]:/.test(root);
  const [given, wanted] = isWindows ? [path.toLowerCase(), root.toLowerCase()] : [path, root];
  if (given === wanted) return '';
  return given.startsWith(`${wanted}/`) ? path.slice(root.length + 1) : null;
}

/** Where the checkout is that a CI service or an image has these paths below. */
export interface Found {
  readonly root: string;
  readonly isOpen: boolean;
}
interface Group extends Found {
  readonly count: number;
}

const joined = (path: string, parts: readonly string[]): string => [path, ...parts].join('/');

/** What both begin with. */
export function commonParts(left: readonly string[], right: readonly string[]): readonly string[] {
  const differs = left.findIndex((part, index) => part !== right[index]);
  return differs < 0 ? left : left.slice(0, differs);
}

/** The directories that all of these have in common. */
function commonOf(all: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = all;
  const differs = first.findIndex((part, index) => all.some((one) => one[index] !== part));
  return differs < 0 ? first : first.slice(0, differs);
}

/** How many of the common directories are above the repository. */
function levelsOf({ levels, isTwin }: Checkout, [first = '', second]: readonly string[]): number {
  if (isTwin !== true || second === undefined) return levels;
  return first === second || (/^\d+$/.test(first) && /^[a-z]$/.test(second)) ? 2 : 1;
}

function groupOf(checkout: Checkout, holder: string, paths: readonly string[]): Group {
  const all = paths.map((path) => partsOf(path.slice(holder.length)).slice(0, -1));
  // runners keep what is theirs beside the checkouts: _temp, _actions, _tool
  const own = checkout.isTwin === true ? all.filter(([first]) => first?.startsWith('_') !== true) : all;
  const common = commonOf(own.length === 0 ? all : own);
  const root = joined(holder, common.slice(0, levelsOf(checkout, common)));
  return { root, isOpen: checkout.isOpen === true, count: paths.length };
}

/**
 * The working directory of a CI service or of a tool's image that these absolute paths lie below: a directory above all
 * of them, or above most where the others lie elsewhere. null: there is none. What one path looks like decides nothing
 * where another lies further up: `C:/a/shop/app/x` and `C:/a/shop/y` are of `C:/a/shop`.
 */
export function checkoutOf(paths: Iterable<string>): Found | null {
  const byHolder = new Map<string, { readonly checkout: Checkout; readonly paths: string[] }>();
  for (const path of paths) {
    if (!isAbsolute(path)) continue;
    for (const checkout of checkouts) {
      const holder = checkout.holder.exec(path)?.[0];
      if (holder === undefined) continue;
      const known = byHolder.get(holder) ?? { checkout, paths: [] };
      known.paths.push(path);
      byHolder.set(holder, known);
      break;
    }
  }
  const groups = [...byHolder].map(([holder, { checkout, paths: below_ }]) => groupOf(checkout, holder, below_));
  // one above another takes its paths: /usr/src of /usr/src/app
  const outer = groups.filter((one) => !groups.some((other) => other !== one && isWithin(one.root, other.root)));
  const counts = outer.map((one) => ({
    ...one,
    count: groups.reduce((sum, other) => sum + (below(other.root, one.root) === null ? 0 : other.count), 0),
  }));
  return counts.sort((left, right) => right.count - left.count || (left.root < right.root ? -1 : 1))[0] ?? null;
}
/** Whether a directory is in no place that is known to hold checkouts. */
export const isUnlisted = (directory: string): boolean =>
  !isHeld(`${directory}/x`) && checkoutOf([`${directory}/x`]) === null;
const isWithin = (path: string, directory: string): boolean => (below(path, directory) ?? '') !== '';

/**
 * Without the working directory of a CI service; null: it begins with none. Of a single path, as tools write it from
 * the root of a repository: names of images' directories may be the repository's own.
 */
export function withoutCheckout(path: string): string | null {
  if (!isAbsolute(path) || checkouts.some(({ isImage, holder }) => isImage === true && holder.test(path))) return null;
  const found = checkoutOf([path]);
  return found === null ? null : below(path, found.root);
}

/** A path without root and drive, and without what leads out of its directory. */
export const withoutRoot = (path: string): string =>
  path
    .replace(/^[A-Z]:(?=\/)/, '')
    .replace(/^\/\?(?:up|unc)(?=\/|$)/, '')
    .replace(/^\/+/, '');

/** Files that stand in the directory of a repository, or of a part of it that is built on its own. */
const ofRoot = new RegExp(
  '^(?:Dockerfile|Containerfile|Makefile|Jenkinsfile|Rakefile|Gemfile|Vagrantfile|Procfile|README|L' +
    'ICENSE|CHANGELOG|package(?:-lock)?\\.json|yarn\\.lock|pnpm-lock\\.yaml|go\\.(?:mod|sum)|pom\\.xm' +
    'l|build\\.gradle|Cargo\\.(?:toml|lock)|pyproject\\.toml|setup\\.(?:py|cfg)|requirements\\.txt|Pi' +
    'pfile|composer\\.(?:json|lock)|docker-compose\\.ya?ml|\\.env|\\.gitlab-ci\\.yml|\\.\\w+rc)(?:\\.' +
    '|$)',
  '',
);

export const isOfRoot = (name: string): boolean => ofRoot.test(name);

/**
 * Where the checkouts of these paths are held in one directory: how far down the checkout is. That is the
 * directory that
 * all of them share, above the first of the directories that repositories have; it counts where one of those or a file
 * that stands in the root of a repository is in it. null: the paths do not tell.
 */
export function deeper(
  paths: readonly string[],
  { root: holder, isOpen }: Found,
): { readonly holder: string; readonly root: string } | null {
  if (!isOpen) return null;
  const rests = paths.map((path) => below(path, holder));
  if (rests.some((rest) => rest === null)) return null;
  const all = rests.map((rest) => partsOf(rest ?? ''));
  const [head = []] = all;
  let depth = 0;
  const isShared = (index: number): boolean => {
    const part = head[index];
    return (
      part !== undefined && !conventional.has(part) && all.every((one) => one.length > index + 1 && one[index] === part)
    );
  };
  while (isShared(depth)) depth++;
  if (depth === 0) return null;
  // beside the directory of the tool there is the checkout, whatever is in it
  const isBeside = holder === '/?up';
  const isRoot = all.some((one) => {
    const child = one[depth] ?? '';
    return one.length > depth + 1 ? conventional.has(child) : ofRoot.test(child);
  });
  if (!isRoot && !isBeside) return null;
  return { holder, root: `${holder}/${head.slice(0, isRoot ? depth : 1).join('/')}` };
}

export const isHolder = (part: string): boolean => /^[A-Z]:$/.test(part) || holders.has(part);
/** First parts of the file system of an image, and what `reportPath` puts before paths that lie elsewhere. */
const ofSystem = new Set('bin boot dev etc lib64 proc run sbin snap sys usr var ?up ?unc'.split(' '));
export const isSystemName = (part: string): boolean => ofSystem.has(part);
export const isOfSystem = (path: string): boolean => {
  const [first = '', ...rest] = partsOf(path);
  return (
    rest.length > 0 && (ofSystem.has(first) || isHolder(first) || checkouts.some(({ holder }) => holder.test(path)))
  );
};
export function isHeld(path: string): boolean {
  const parts = partsOf(path);
  return isHolder(parts[0] ?? '') || inSystem.test(path) || (homeAt(parts) >= 0 && parts.length > homeAt(parts) + 2);
}

/** Directories of people deeper down: of Windows below a letter, on other disks and machines. */
const homeAt = (parts: readonly string[]): number => {
  const at = parts.slice(0, homesMax).findIndex((part) => /^(?:home|users)$/i.test(part));
  return at > 0 && parts.slice(0, at).some((part) => conventional.has(part)) ? -1 : at;
};
const homesMax = 5;
/** Places in directories of the system that people and services keep checkouts in. */
const inSystem = /^\/(?:run\/media|var\/(?:home|tmp|folders|www|builds?|lib\/[^/]+)|usr\/(?:home|local\/src))(?=\/)/;

/** Where the name of a checkout can stand at the earliest: behind the drive, places of people, and their shelves. */
export function firstOfCheckout(parts: readonly string[]): number {
  let at = /^[A-Z]:$/.test(parts[0] ?? '') ? 1 : 0;
  const home = homeAt(parts);
  if (home >= 0) at = home + 2;
  else at = Math.max(at, partsOf(inSystem.exec(`/${parts.join('/')}`)?.[0] ?? '').length);
  for (; at < parts.length; at++) {
    const part = parts[at] ?? '';
    // drives of Windows below /mnt and /cygdrive, machines of a network
    const isDrive = at === 1 && /^[a-z]$/.test(part) && /^(?:mnt|cygdrive)$/.test(parts[0] ?? '');
    const isMachine = at === 1 && parts[0] === '?unc';
    if (!isDrive && !isMachine && !isHolder(part) && !(at > 0 && shelves.has(part))) break;
  }
  return at;
}

/**
 * Where in an absolute path the first directory is that repositories have; -1: nowhere. The first one of a place where
 * checkouts are kept is none of them: `/home/bob/src/shop` is a checkout, `/home/bob/shop/src` a part of one.
 */
export function innerAt(parts: readonly string[]): number {
  const first = firstOfCheckout(parts);
  return parts.findIndex((part, index) => index > first && conventional.has(part));
}
export const isOfRepositories = (part: string): boolean => conventional.has(part);
