export * from './dist/index.js'
export { default } from './dist/index.js'
