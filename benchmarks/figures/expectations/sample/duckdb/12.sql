SELECT Title, Pages // 25 FROM Books WHERE Language = 'English' AND "group" = 'Teen'
