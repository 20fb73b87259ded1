export default defineEventHandler(event => {
  setCookie(event, 'a', '1')
  setCookie(event, 'b', '2', { httpOnly: true })
  setResponseStatus(event, 202)
  return 'cookies'
})
