import { index, route } from '@react-router/dev/routes'

export default [
  index('routes/page.jsx'),
  route('deferred', 'routes/deferred.jsx'),
  route('form', 'routes/form.jsx'),
  route('away', 'routes/away.js'),
  route('breaks', 'routes/breaks.js'),
  route('api', 'routes/api.js'),
  route('events', 'routes/events.js')
]
