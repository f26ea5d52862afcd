import { resolve } from 'node:path';
import { isOrigin, setting } from './values.ts';

/** Signing in with Google in the browser, by an OAuth client of the operator. */
export const CONNECT = {
  googleClientId: setting({
    name: 'ORDINATE_GOOGLE_CLIENT_ID',
    uses: ['providers', 'server'],
    fallback: '',
    shown: 'none',
    help: 'Id of the OAuth client with which owners connect Google in the browser.',
    wanted: 'an id that ends in .apps.googleusercontent.com',
    read: (text) => (text === '' || /^[\w-]+\.apps\.googleusercontent\.com$/.test(text) ? text : undefined),
  }),
  googleClientSecretFile: setting({
    name: 'ORDINATE_GOOGLE_CLIENT_SECRET_FILE',
    uses: ['providers', 'server'],
    fallback: '',
    shown: 'none',
    help: 'File with the secret of that client.',
    wanted: 'the path of a file',
    read: (text) => (text === '' ? '' : resolve(text)),
  }),
  googleEndpoint: setting({
    name: 'ORDINATE_GOOGLE_ENDPOINT',
    uses: ['providers', 'server'],
    fallback: '',
    shown: "Google's own",
    help: "Origin that stands in for Google's addresses: sign-in, tokens and the reporting API; for tests and proxies.",
    wanted: 'an origin such as http://127.0.0.1:8080',
    read: (text) => (text === '' ? null : isOrigin(text) ? text : undefined),
  }),
  bingEndpoint: setting({
    name: 'ORDINATE_BING_ENDPOINT',
    uses: ['providers', 'server'],
    fallback: '',
    shown: "Bing's own",
    help: 'Base address of the API of Bing Webmaster Tools; for tests and proxies.',
    wanted: 'an address such as http://127.0.0.1:8080/json',
    read: (text) => (text === '' ? null : /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
  }),
};
