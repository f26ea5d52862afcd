/** Dimensions of columns or files of exports. */
export const DIMENSIONS = ['date', 'query', 'page', 'country', 'device', 'appearance'] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export const MEASURES = ['clicks', 'impressions', 'ctr', 'position'] as const;
export type Measure = (typeof MEASURES)[number];

/**
 * Headers of exports, in lower case: of the API, then of the user interface in English, German, French, Spanish, Italian,
 * Portuguese, Dutch, Polish, Swedish, Turkish, Japanese and Korean.
 */
const HEADERS: Readonly<Record<Dimension | Measure, string>> = {
  date: 'date|datum|fecha|data|tarih|日付|날짜',
  query:
    'query|queries|top queries|search query|häufigste suchanfragen|suchanfragen|suchanfrage|requêtes les plus fréquentes|requêtes|requête|consultas principales|consultas|consulta|query principali|principais consultas|populairste zoekopdrachten|najpopularniejsze zapytania|vanligaste sökfrågorna|en popüler sorgular|上位のクエリ|인기 검색어',
  page: "page|pages|url|top pages|häufigste seiten|top-seiten|seiten|seite|pages les plus populaires|páginas principales|páginas|página|pagine principali|principais páginas|populairste pagina's|najpopularniejsze strony|vanligaste sidorna|en popüler sayfalar|上位のページ|인기 페이지",
  country: 'country|countries|land|länder|pays|país|países|paese|landen|kraj|ülke|国|국가',
  device:
    'device|devices|gerät|geräte|appareil|appareils|dispositivo|dispositivos|apparaat|urządzenie|enhet|cihaz|デバイス|기기',
  appearance:
    'searchappearance|search appearance|darstellung in der suche|apparence dans les résultats de recherche|aspecto en la búsqueda|aspecto de la búsqueda|aspecto en los resultados de búsqueda|apariencia en el buscador|apariencia en la búsqueda|apariencia en búsquedas|apariencia en los resultados de búsqueda|apariencia de la búsqueda|aparición en el buscador|aparición en la búsqueda|aparición en búsquedas|aparición en los resultados de búsqueda|aspetto nella ricerca|検索での見え方|검색 노출',
  clicks: 'clicks|klicks|clics|clic|cliques|klikken|kliknięcia|klick|tıklamalar|クリック数|클릭수',
  impressions:
    'impressions|impressionen|impresiones|impressioni|impressões|vertoningen|wyświetlenia|visningar|exponeringar|gösterimler|表示回数|노출',
  ctr: 'ctr|klickrate|klickfrekvens|taux de clics|tıklama oranı|클릭률',
  position:
    'position|average position|durchschnittliche position|position moyenne|posición|posición media|posizione|posizione media|posição|positie|pozycja|genomsnittlig position|konum|ortalama konum|掲載順位|게재순위',
};

/** Headers of charts by week and month. */
const INTERVALS: Readonly<Record<'week' | 'month', string>> = {
  week: 'week|woche|semaine|semana|settimana|tydzień|vecka|uge|uke|viikko|hafta|неделя|週|周|주|주간',
  month: 'month|monat|mois|mes|mese|mês|maand|miesiąc|månad|måned|kuukausi|ay|месяц|月|월',
};

/** File names of the user interface's export, where headers do not help. */
const FILES: Readonly<Record<Dimension, string>> = {
  date: 'dates|chart|datumsangaben|diagramm|graphique|gráfico|fechas|grafico',
  query: 'queries|suchanfragen|requêtes|consultas|query',
  page: 'pages|seiten|páginas|pagine',
  country: 'countries|länder|pays|países|paesi',
  device: 'devices|geräte|appareils|dispositivos|dispositivi',
  appearance: `search appearance|${HEADERS.appearance}`,
};

const FILTER_FILES = 'filters|filter|filtres|filtros|filtri|フィルタ|필터';
/** All web searches, as the value of a filter. */
const WEB = 'web|ウェブ|웹';
const DATE_FILTER = HEADERS.date;

function meaningOf<Meaning extends string>(
  words: Readonly<Record<Meaning, string>>,
  text: string,
): Meaning | undefined {
  const plain = normalized(text);
  return (Object.keys(words) as Meaning[]).find((meaning) => words[meaning].split('|').includes(plain));
}

function normalized(text: string): string {
  return text.normalize('NFC').trim().toLowerCase().replaceAll(/\s+/g, ' ');
}

/** The meaning of a column by its header. */
export function meaningOfHeader(header: string): Dimension | Measure | undefined {
  return meaningOf(HEADERS, header);
}

/** The interval of a chart by its header. */
export function intervalOfHeader(header: string): 'week' | 'month' | undefined {
  return meaningOf(INTERVALS, header);
}

/** The names of the API's dimensions, which exports of the user interface do not use. */
export function isApiName(header: string): boolean {
  return /^(date|query|page|country|device|searchAppearance)$/.test(header);
}

/** The dimension of a list by its file name. */
export function meaningOfFile(name: string): Dimension | undefined {
  return meaningOf(FILES, name.replace(/\.csv$/i, ''));
}

export function isFilterFile(name: string): boolean {
  return FILTER_FILES.split('|').includes(normalized(name.replace(/\.csv$/i, '')));
}

/** Whether a filter keeps all web searches, or only selects days. */
export function isHarmlessFilter(name: string, value: string): boolean {
  return DATE_FILTER.split('|').includes(normalized(name)) || WEB.split('|').includes(normalized(value));
}
