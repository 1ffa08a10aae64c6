declare module 'solid-js-web-original' {
  export * from 'solid-js/web';
}
