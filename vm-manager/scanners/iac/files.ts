// Which file is of which kind, by its name.

export const isDockerfile = (path: string): boolean =>
  /(?:^|\/)(?:[\w.-]+\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?$/i.test(path) &&
  !/\.(?:dockerignore|md|ts|js|py|go)$/i.test(path);

export const isCompose = (path: string): boolean => /(?:^|\/)(?:docker-)?compose(?:[.-][\w-]+)*\.ya?ml$/i.test(path);

/** May have services of Compose; the text says whether. */
export const mayBeCompose = (path: string): boolean => /\.ya?ml$/i.test(path);
