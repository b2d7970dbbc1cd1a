package hookyard

import (
	"encoding/json"
	"iter"
)

const eachPageSize = 100

// eachByCursor gives the items of all parts: what is stored meanwhile shifts nothing.
func eachByCursor[Item any](fetch func(cursor string) ([]Item, *string, error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		cursor := "first"
		for {
			items, next, err := fetch(cursor)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil {
				return
			}
			cursor = *next
		}
	}
}

// eachByPage gives the items of all pages. What is made or removed meanwhile shifts them: an item that shows up twice is given once.
func eachByPage[Item any](
	fetch func(page int64) ([]Item, Pagination, error), identity func(Item) string,
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		before := map[string]bool{}
		for page := int64(1); ; page++ {
			items, pagination, err := fetch(page)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			now := map[string]bool{}
			for _, item := range items {
				id := identity(item)
				now[id] = true
				if !before[id] && !yield(item, nil) {
					return
				}
			}
			if len(items) == 0 || page*pagination.PageSize >= pagination.Total {
				return
			}
			before = now
		}
	}
}

// asJSON tells items apart that have no id.
func asJSON[Item any](item Item) string {
	text, err := json.Marshal(item)
	if err != nil {
		return ""
	}
	return string(text)
}
