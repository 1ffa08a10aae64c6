// Directories that a checkout lies in: what is before the first part of a path that belongs to the repository. Paths
// are
// compared by whole parts; a drive letter (`C:`) is the first part of its path.

/** Working directories of CI services and of containers, at the beginning of an absolute path. */
const checkouts: readonly RegExp[] = [
  // GitHub Actions, hosted and self-hosted; Azure Pipelines (a number and a letter)
  /^\/(?:home|Users)\/(?:runner|vsts)\/work\/[^/]+\/[^/]+(?:\/|$)/,
  /^[A-Z]:\/a\/(?:\d+\/[a-z]|[^/]+\/[^/]+)(?:\/|$)/,
  /^\/__w\/[^/]+\/[^/]+(?:\/|$)/,
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,6}_work\/[^/]+\/[^/]+(?:\/|$)/,
  /^\/github\/workspace(?:\/|$)/,
  // Bitbucket, CircleCI, CodeBuild, Drone, Tekton
  /^\/opt\/atlassian\/(?:pipelines|bitbucketci)\/agent\/build(?:\/|$)/,
  /^\/bitbucket\/pipelines\/agent\/build(?:\/|$)/,
  /^\/(?:home\/circleci|root)\/(?:project|repo)(?:\/|$)/,
  /^\/codebuild\/output\/src\d+\/src\/(?:[^/]+\.[a-z]+\/[^/]+\/)?[^/]+(?:\/|$)/,
  /^\/(?:drone|woodpecker|bitrise)\/src(?:\/|$)/,
  /^\/(?:tekton\/(?:home\/)?)?workspace\/source(?:\/|$)/,
  // Netlify, Vercel, Render, Harness, Bamboo, Go
  /^\/opt\/(?:build\/repo|render\/project\/src)(?:\/|$)/,
  /^\/vercel\/path\d+(?:\/|$)/,
  /^\/harness(?:\/|$)/,
  /^\/(?:[^/]+\/){0,5}xml-data\/build-dir\/[^/]+(?:\/|$)/,
  /^\/(?:root\/)?go\/src\/[^/]+\.[a-z]+\/[^/]+\/[^/]+(?:\/|$)/,
  // TeamCity, Buildkite
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,4}[Bb]uild[Aa]gent\/work\/[^/]+(?:\/|$)/,
  /^\/(?:[^/]+\/){0,4}buildkite-agent\/builds\/[^/]+\/[^/]+\/[^/]+(?:\/|$)/,
  // images of tools
  /^\/(?:usr\/src\/app|usr\/src|workdir|src|app|code|repo|project|scan|tf|zap\/wrk)(?:\/|$)/,
];

/**
 * Directories that hold checkouts, in an unknown number of levels: subgroups of GitLab, folders of Jenkins,
 * workspaces,
 * shares of a network, and what lies beside the directory that the tool ran in. `deeper` tells how many.
 */
const holdersOfCheckouts: readonly RegExp[] = [
  /^\/builds\/[^/]+\/[^/]+(?:\/|$)/,
  /^\/tekton\/home\/(?:workspaces?\/[^/]+)(?:\/|$)/,
  /^\/workspaces?(?:\/|$)/,
  /^(?:[A-Z]:)?\/(?:[^/]+\/){0,5}[Jj]enkins(?:_home)?\/(?:[^/]+\/)?workspace\/[^/]+(?:\/|$)/,
  /^\/\?unc\/[^/]+\/[^/]+(?:\/|$)/,
  /^\/\?up(?:\/|$)/,
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
  ].concat(['checkout', 'checkouts', 'ci', 'agent', 'runner', 'jenkins', 'media', 'volumes', 'Volumes', 'scratch']),
);
/** Directories within repositories: a root ends before them. */
const conventional = new Set(
  ['src', 'source', 'sources', 'lib', 'libs', 'app', 'apps', 'test', 'tests', 'spec', 'pkg', 'packages', 'cmd'].concat(
    ['internal', 'include', 'public', 'scripts', 'charts', 'deploy', '.github', 'server', 'client', 'api', 'web'],
    ['backend', 'frontend', 'services', 'modules', 'components', 'config', 'infra', 'terraform', 'k8s', 'bin'],
    ['vendor', 'node_modules', 'examples'],
  ),
);

export const isAbsolute = (path: string): boolean => /^(?:\/|[A-Z]:\/)/.test(path);
export const partsOf = (path: string): string[] => path.split('/').filter(Boolean);

/** What is left of the path below the directory; null: it lies elsewhere. Drives are compared without case. */
export function below(path: string, directory: string): string | null {
  const root = directory.replace(/\/+$/, '');
  const isWindows = /^[A-Z]:/.test(root);
  const [given, wanted] = isWindows ? [path.toLowerCase(), root.toLowerCase()] : [path, root];
  if (given === wanted) return '';
  return given.startsWith(`${wanted}/`) ? path.slice(root.length + 1) : null;
}

/** Without the working directory of a CI service or of a tool's image; null: it begins with none. */
export function withoutCheckout(path: string): string | null {
  if (!isAbsolute(path)) return null;
  for (const pattern of [...checkouts, ...holdersOfCheckouts]) {
    const found = pattern.exec(path);
    if (found !== null) return path.slice(found[0].length);
  }
  return null;
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

/**
 * Where the checkouts of these paths are held in one directory: how far down the checkout is. That is the
 * directory that
 * all of them share, above the first of the directories that repositories have; it counts where one of those or a file
 * that stands in the root of a repository is in it. null: the paths do not tell.
 */
export function deeper(paths: readonly string[]): { readonly holder: string; readonly root: string } | null {
  const [first] = paths;
  if (first === undefined) return null;
  const pattern = holdersOfCheckouts.find((one) => one.test(first));
  const [found = ''] = pattern?.exec(first) ?? [];
  const holder = found.replace(/\/$/, '');
  if (holder === '' || checkouts.some((one) => one.test(first))) return null;
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
const isHeld = (path: string): boolean => isHolder(partsOf(path)[0] ?? '');

/** Where in an absolute path the first directory is that repositories have; -1: nowhere. */
export const innerAt = (parts: readonly string[]): number =>
  parts.findIndex((part, index) => index >= 2 && conventional.has(part));

/** Collects absolute paths and gives the directory that all of them have in common, above `src` and its like. */
export class CommonRoot {
  private common: string[] | null = null;
  private isWindows = false;

  add(path: string): void {
    if (!isAbsolute(path) || !isHeld(path)) return;
    const directory = partsOf(path).slice(0, -1);
    this.isWindows = /^[A-Z]:/.test(path);
    if (this.common === null) {
      this.common = directory;
      return;
    }
    const differs = this.common.findIndex((part, index) => part !== directory[index]);
    if (differs >= 0) this.common = this.common.slice(0, differs);
  }

  /** null: there is none, or it is the root of the file system. */
  get root(): string | null {
    if (this.common === null) return null;
    const inner = innerAt(this.common);
    const kept = inner < 0 ? this.common : this.common.slice(0, inner);
    return kept.length === 0 ? null : `${this.isWindows ? '' : '/'}${kept.join('/')}`;
  }
}
