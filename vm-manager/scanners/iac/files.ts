// Which file is of which kind, by its name.

export const isDockerfile = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]+\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$/i.test(path) &&
  !/\.(?:dockerignore|md|ts|js|py|go)$/i.test(path);

export const isCompose = (path: string): boolean => /(?:^|\/)(?:docker-)?compose(?:[.-][\w-]+)*\.ya?ml$/i.test(path);
